// Linear layers of a decoder on the CPU: weights packed once, then multiplied by any number of rows
// at the speed of memory.
//
// The bits of an output row depend on its input row and the weights alone: not on other rows, their
// number or the number of threads. F32 sums have the order of linear_forward(), whose bits they
// equal. BF16 rounds x to BF16 and sums in F32. Q8_0 quantizes x in blocks of 32, as the weights
// are (core/tensor/q8_0.h); sums inside a block are exact, those over blocks are F32, in order. Its
// bits are the same on every instruction set.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "core/tensor/weight_format.h"

namespace ingot {

// A matrix (rows, cols) in panels, on the CPU. Owns nothing.
struct PackedWeight {
  Tensor bytes;  // U8 (packed_bytes(format, rows, cols)), aligned to 64 bytes
  WeightFormat format = WeightFormat::F32;
  int64_t rows = 0, cols = 0;
};

// Packs `rows` (n, cols) F32 as rows [first_row, first_row + n) of w. Throws ErrorCode::Data if a
// block's scale is beyond 16 bits (Q8_0).
void pack_rows(Context& ctx, const Tensor& rows, int64_t first_row, const PackedWeight& w);

// y(N, cols) F32 = rows ids(N) I32 of w, as they were packed: an embedding lookup. Throws
// ErrorCode::Data if an id is outside [0, rows).
void unpack_rows(Context& ctx, const PackedWeight& w, const Tensor& ids, const Tensor& y);

// y(N, rows) = x(N, cols) · wᵀ, plus addend(N, rows) if defined, which may be y. All F32 with a
// contiguous last dim; y does not overlap x. Takes packed_linear_workspace_bytes() of the context's
// workspace.
void packed_linear_forward(Context& ctx, const Tensor& x, const PackedWeight& w, const Tensor& y,
                           const Tensor& addend = {});

// Scratch for N rows: x as the kernels read it.
int64_t packed_linear_workspace_bytes(WeightFormat format, int64_t N, int64_t cols);

}  // namespace ingot
