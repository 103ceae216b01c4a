// RoPE tables for the cases of ops that rotate.
#pragma once

#include "ops/rope.h"

namespace ingot {

// Tables for heads of D in `dtype`, allocated in the workspace, and their size in bytes.
RopeInput take_rope_tables(Context& ctx, DType dtype, int64_t context, int64_t D,
                           const RopeFrequencies& frequencies = {});
int64_t rope_tables_bytes(int64_t context, int64_t D);

}  // namespace ingot
