// Tokenizes documents into token shards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ingest/read/document_reader.h"
#include "ledger/task_folder.h"
#include "shards/shard_writer.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

struct TokenizeSource {
  std::string name;
  std::vector<InputFile> files;
};

#include "spec/settings/fields.h"

struct TokenizeSettings {
  ReadSettings read;           // ReadSettings::source is set per source
  int32_t bos = -1, eos = -1;  // added before and after each document; -1: none
  // A work item consists of whole files: task_bytes of stored input, and at least one file. Shards
  // do not span work items; a small value gives small shards and lets more processes share the
  // work.
#include "ingest/tokenize/tokenize.def"
  int64_t threads = 1;
  ProcessShare share;
  int64_t sort_bytes = int64_t{1} << 30;  // memory for finding duplicates
};

#include "spec/settings/end.h"

std::vector<Setting> settings_of(TokenizeSettings& settings);

struct TokenizeProgress {
  int64_t bytes_read = 0, bytes_total = -1;  // of this process's stored input; -1: unknown
  int64_t text_bytes = 0, documents = 0, tokens = 0;
};

struct TokenizeResult {
  bool finished = false;  // false: other processes still have work items
  ShardManifest manifest;
  std::vector<std::string> duplicate_examples;  // of ids: "source: id"
  std::vector<std::string> equal_examples;      // of documents: "source: id = source: id"
  RecordPlaces first_left_out;                  // by reason in manifest.left_out, if known
};

// Encodes every document of the sources, in order, into `folder`. After a kill, or with several
// processes at once, it resumes from the records; the bytes in `folder` are the same for any number
// of threads, processes and kills. Throws ErrorCode::Config if the folder was begun with other
// inputs or settings, ErrorCode::Data if there is no document. `progress` may be empty; it is
// called by one thread at a time.
TokenizeResult tokenize(std::shared_ptr<Storage> storage, const Tokenizer& tokenizer,
                        const std::vector<TokenizeSource>& sources,
                        const TokenizeSettings& settings, const std::string& folder,
                        const std::function<void(const TokenizeProgress&)>& progress);

}  // namespace ingot
