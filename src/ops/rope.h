// Rotary position embedding, in place on heads.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

enum class RopePairs { HalfSplit, Interleaved };  // (i, i + D/2) or (2i, 2i+1)

// Frequency scaling that extends a model beyond its trained context, as in Hugging Face's rope
// types of these names.
enum class RopeStretch { None, Linear, Dynamic, Yarn, Llama3 };

struct RopeFrequencies {
  double theta = 10000.0;
  RopeStretch stretch = RopeStretch::None;
  double factor = 1.0;  // context extension factor
  // Llama3: wavelengths above original_context / low_freq_factor are stretched in full, those below
  // original_context / high_freq_factor are unchanged.
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  // Yarn: the same bounds in turns within original_context, and the factor of cosines and sines; 0
  // = 0.1·ln(factor) + 1.
  double beta_slow = 1.0;
  double beta_fast = 32.0;
  double attention_factor = 0.0;
  int64_t original_context = 8192;  // Dynamic, Yarn, Llama3
};

// The inputs of a rotation besides the heads.
struct RopeInput {
  Tensor cos;             // (context, D/2), as rope_table() fills it
  Tensor sin;             // (context, D/2)
  Tensor positions = {};  // (B, T) I32, or undefined: first_position + t
  int64_t first_position = 0;
  RopePairs pairs = RopePairs::HalfSplit;
};

// cos, sin: (context, D/2) F32 (or F64), filled for positions first_position, first_position + 1,
// …. Computed on the host in double, then copied to the tensors. With Dynamic, the frequencies are
// those of a sequence that ends at the last of these positions.
void rope_table(Context& ctx, const RopeFrequencies& frequencies, const Tensor& cos,
                const Tensor& sin, int64_t first_position = 0);

// Rotates x(B, T, H, D) in place; any strides with a contiguous last dim. Throws if a position is
// beyond the table (on a GPU the caller guarantees this for `positions`).
void rope_forward(Context& ctx, const Tensor& x, const RopeInput& rope);
// The inverse rotation, which is the gradient.
void rope_backward(Context& ctx, const Tensor& dx, const RopeInput& rope);

}  // namespace ingot
