// Token files: raw little-endian ids, with or without llm.c's header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/tensor/dtype.h"
#include "shards/token_source.h"
#include "spec/model/token_dtype.h"

namespace ingot {

// Always recognises llm.c's header (256 int32: magic, version, count), which must match `dtype`:
// magic 20240520 version 1 is u16, 20240801 version 7 u32. A file of up to kResidentBytes is
// checked in full at once; a larger one by samples, and then as it is read.
std::unique_ptr<TokenSource> open_token_file(const std::string& path, TokenDType dtype,
                                             int64_t vocab);

// Only ids, with a type known from elsewhere: U16 or U32.
std::unique_ptr<TokenSource> open_raw_tokens(const std::string& path, DType dtype, int64_t vocab);

}  // namespace ingot
