// Megatron's token files: NAME.bin holds bare ids, NAME.idx their type and where documents begin.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shards/token_source.h"

namespace ingot {

// Whether `bin_path` ends in .bin and a file of the same name that ends in .idx lies beside it.
// What is in that is for open_megatron_file() to say: a damaged index must not pass for none.
bool has_megatron_index(const std::string& bin_path);

// Ids of the types Megatron writes: uint16 and int32. The index must describe exactly the
// file beside it, sequence after sequence; what does not is ErrorCode::Data with what differs.
// `bos` and `eos`: ids around documents that are no part of what they say; -1: none.
std::unique_ptr<TokenSource> open_megatron_file(const std::string& bin_path, int64_t vocab,
                                                int32_t bos = -1, int32_t eos = -1);

}  // namespace ingot
