// Files to shards: one task of `ingot data tokenize`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ingest/tokenize/document_batches.h"
#include "shards/shard_writer.h"

namespace ingot {

// What one more batch adds, as it is written.
struct TokenizeStep {
  int64_t bytes_read = 0;  // of the input as stored
  int64_t text_bytes = 0, documents = 0, tokens = 0;
};

struct TokenizeTask {
  std::vector<SourceFile> files;
  ReadSettings read;
  ShardManifest manifest;  // what is known before: vocabulary, BOS, EOS, tokenizer, sources
  ShardSettings shards;
  std::string folder;
  // Here a finished shard is recorded, so that the task goes on behind it after a kill.
  std::string record_path;
};

struct TokenizedFiles {
  ShardManifest manifest;            // of their shards
  std::vector<InputContent> inputs;  // what the files held
  ReadCounts left_out;               // as manifest.left_out, with the first record of each reason
};
// As members of a record.
nlohmann::json to_json(const TokenizedFiles& files);
// Throws nlohmann's exceptions, and as parse_manifest().
TokenizedFiles tokenized_files_of(const nlohmann::json& record, const std::string& origin);

// Does the task, or the rest of it, with `threads` threads. Each shard is on the disk before it is
// recorded; the bytes are the same for any number of threads and kills. Throws ErrorCode::Config
// where files that were read before a kill hold something else now. `on_step` is called by one
// thread at a time.
TokenizedFiles run_tokenize_task(const std::shared_ptr<Storage>& storage, const TokenizeTask& task,
                                 const Tokenizer& tokenizer, int64_t threads,
                                 const std::function<void(const TokenizeStep&)>& on_step);

}  // namespace ingot
