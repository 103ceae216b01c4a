// Token files of other programs to shards, and back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shards/foreign_tokens.h"
#include "shards/shard_folder.h"
#include "shards/shard_writer.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

struct ImportSettings {
  std::string source = "import";
  std::optional<ForeignFormat> format;  // without: as open_foreign_tokens() tells it
  DocumentMarks marks;
  int64_t vocab_size = 0;                // where there is no tokenizer
  const Tokenizer* tokenizer = nullptr;  // says vocabulary, hash, and how much text ids stand for
  int64_t shard_tokens = kDefaultShardTokens;
};

// Writes the documents of `files`, named "FILE:NUMBER", as a folder of shards; begun again from
// the start where it was interrupted. A document that lacks the BOS or EOS of the marks throws
// ErrorCode::Data, but the last of a file may lack EOS: it counts as cut. Documents without ids are
// counted as left out.
ShardManifest import_tokens(std::shared_ptr<Storage> storage, const std::vector<std::string>& files,
                            const ImportSettings& settings, const std::string& folder);

// The files that export_tokens() writes: megatron PATH.bin and PATH.idx, nanogpt PATH, llmc
// PATH_000000.bin …, one for each shard.
std::vector<std::string> exported_files(const ShardFolder& shards, ForeignFormat format,
                                        const std::string& path);

// Writes them over what is there; nanogpt holds u16 only. Throws ErrorCode::Config for ids or
// lengths that the format cannot hold, and for datatrove. Returns the files.
std::vector<std::string> export_tokens(Storage& storage, const ShardFolder& shards,
                                       ForeignFormat format, const std::string& path);

}  // namespace ingot
