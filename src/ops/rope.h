// Rotary position embedding, in place on heads.
#pragma once

#include "core/context.h"
#include "core/tensor.h"

namespace ingot {

enum class RopePairs { HalfSplit, Interleaved };  // (i, i + D/2) or (2i, 2i+1)

struct RopeFrequencies {
  double theta = 10000.0;
  // Llama-3 frequency scaling; factor 1 = none.
  double factor = 1.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  int64_t original_context = 8192;
};

// What a rotation takes beside the heads.
struct RopeInput {
  Tensor cos;             // (context, D/2), as rope_table() fills it
  Tensor sin;             // (context, D/2)
  Tensor positions = {};  // (B, T) I32, or undefined: first_position + t
  int64_t first_position = 0;
  RopePairs pairs = RopePairs::HalfSplit;
};

// cos, sin: (context, D/2) F32 (or F64), filled for positions 0 … context-1. Computed on the host
// in double, then copied to where the tensors are.
void rope_table(Context& ctx, const RopeFrequencies& frequencies, const Tensor& cos,
                const Tensor& sin);

// Rotates x(B, T, H, D), any strides but a contiguous last dim, in place. Throws when a position is
// beyond the table (positions on a GPU are the caller's to make sure of).
void rope_forward(Context& ctx, const Tensor& x, const RopeInput& rope);
// The inverse rotation, which is the gradient.
void rope_backward(Context& ctx, const Tensor& dx, const RopeInput& rope);

}  // namespace ingot
