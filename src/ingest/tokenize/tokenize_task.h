// Files to shards: one work item of `ingot data tokenize`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ingest/tokenize/document_batches.h"
#include "ledger/records/task_records.h"
#include "shards/shard_writer.h"

namespace ingot {

// The progress of one batch, when it is written.
struct TokenizeStep {
  int64_t bytes_read = 0;  // of the stored input
  int64_t text_bytes = 0, documents = 0, tokens = 0;
};

struct TokenizeTask {
  std::vector<SourceFile> files;
  ReadSettings read;
  ShardManifest manifest;  // known fields: vocabulary, BOS, EOS, tokenizer, sources
  ShardSettings shards;
  std::string folder;
  // Finished shards are recorded here, so that the work item resumes after them.
  std::string record_path;
};

struct TokenizedFiles {
  ShardManifest manifest;            // of their shards
  std::vector<InputContent> inputs;  // content hashes of the files
  ReadCounts left_out;               // as manifest.left_out, with the first record of each reason
};
TokenizeRecord record_of(const TokenizedFiles& files);
// Throws like parse_manifest().
TokenizedFiles files_of(const TokenizeRecord& record, const std::string& origin);

// Does the work item, or the rest of it, with `threads` threads. Each shard is durable before it is
// recorded; the bytes are the same for any number of threads and kills. Throws ErrorCode::Config if
// files read before a kill have changed. `on_step` is called by one thread at a time.
TokenizedFiles run_tokenize_task(const std::shared_ptr<Storage>& storage, const TokenizeTask& task,
                                 const Tokenizer& tokenizer, int64_t threads,
                                 const std::function<void(const TokenizeStep&)>& on_step);

}  // namespace ingot
