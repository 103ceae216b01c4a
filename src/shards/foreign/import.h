// Converts other programs' token files to shards and back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shards/foreign/tokens.h"
#include "shards/shard_folder.h"
#include "shards/shard_writer.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

struct ImportSettings {
  std::string source = "import";
  std::optional<ForeignFormat> format;  // unset: detected by open_foreign_tokens()
  DocumentMarks marks;
  int64_t vocab_size = 0;                // used without a tokenizer
  const Tokenizer* tokenizer = nullptr;  // gives the vocabulary, the hash and the text bytes of ids
  int64_t shard_tokens = kDefaultShardTokens;
};

// Writes the documents of `files`, named "FILE:NUMBER", as a folder of shards; starts again after
// an interruption. Where files say where documents are, and all of them end with the tokenizer's
// EOS or begin with its BOS, those are the marks unless `settings` name others; where only some do,
// the log counts them. A document without the BOS or EOS of the marks throws ErrorCode::Data; only
// the last of a file may lack EOS and counts as cut. Documents without ids are counted as left out.
ShardManifest import_tokens(std::shared_ptr<Storage> storage, const std::vector<std::string>& files,
                            const ImportSettings& settings, const std::string& folder);

// The files that export_tokens() writes: megatron PATH.bin and PATH.idx, nanogpt PATH, llmc
// PATH_000000.bin …, one per shard.
std::vector<std::string> exported_files(const ShardFolder& shards, ForeignFormat format,
                                        const std::string& path);

// Overwrites existing files; nanogpt holds u16 only. Throws ErrorCode::Config for ids or lengths
// that the format cannot hold, and for datatrove. Returns the files.
std::vector<std::string> export_tokens(Storage& storage, const ShardFolder& shards,
                                       ForeignFormat format, const std::string& path);

}  // namespace ingot
