// A folder of token shards as one source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/storage/mapped_file.h"
#include "shards/token_source.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Whether `path` is a folder with a manifest.
bool is_shard_folder(const std::string& path);

// Documents, their bytes and their names come from the shards' index; the manifest says
// where BOS and EOS are. Throws ErrorCode::Config, with both hashes, if `tokenizer` is not
// the one that made the shards, and ErrorCode::Data if a file is missing or does not have
// the size in the manifest. Older shards have no hashes of chunks. They are compared with
// the manifest here, up to `compared_here` bytes of tokens, and beyond that by
// compare_in_background().
std::unique_ptr<TokenSource> open_shards(const std::string& folder, const Tokenizer& tokenizer,
                                         int64_t compared_here = kResidentBytes);

}  // namespace ingot
