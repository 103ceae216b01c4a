// Tokenizes documents into token shards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/read/document_reader.h"
#include "ingest/tasks/stage.h"
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
  int64_t sort_bytes = int64_t{1} << 30;  // memory for finding duplicates
};

#include "spec/settings/end.h"

std::vector<Setting> settings_of(TokenizeSettings& settings);

struct TokenizeResult {
  bool finished = false;  // false: other processes still have work items
  ShardManifest manifest = {};
  std::vector<std::string> duplicate_examples = {};  // of ids: "source: id"
  std::vector<std::string> equal_examples = {};      // of documents: "source: id = source: id"
  RecordPlaces first_left_out = {};                  // by reason in manifest.left_out, if known
  int64_t text_bytes = 0;                            // encoded by this process in this call
};

// Encodes every document of the sources, in order, into run.folder. Documents are read through
// run.storage too. After a kill, or with several processes at once, it resumes from the
// records; the bytes in the folder are the same for any number of threads, processes and kills.
// Throws ErrorCode::Config if the folder was begun with other inputs or settings, ErrorCode::Data
// if there is no document.
TokenizeResult tokenize(const StageRun& run, const Tokenizer& tokenizer,
                        const std::vector<TokenizeSource>& sources,
                        const TokenizeSettings& settings);

}  // namespace ingot
