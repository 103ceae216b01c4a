// Megatron's token files: NAME.bin holds bare ids, NAME.idx their type and the document boundaries.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shards/token_source.h"

namespace ingot {

// Whether `bin_path` ends in .bin and a file NAME.idx is beside it. Does not check the index: a
// damaged one must not count as missing.
bool has_megatron_index(const std::string& bin_path);

// Supports Megatron's uint16 and int32 ids. The index must describe exactly the file beside it,
// sequence after sequence; otherwise throws ErrorCode::Data with the difference.
// `bos` and `eos` are ids around documents that do not count as their content; -1: none.
std::unique_ptr<TokenSource> open_megatron_file(const std::string& bin_path, int64_t vocab,
                                                int32_t bos = -1, int32_t eos = -1);

}  // namespace ingot
