#include "ops/cpu/fp8.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/cpu/kernel.h"

namespace ingot::cpu {
namespace {

float to_float(float value) {
  return value;
}
float to_float(Bf16 value) {
  return value.to_float();
}

// f(T{}) with the element type of what is rounded.
template <class F>
void with_input_type(DType dtype, const F& f) {
  with_type<DType::BF16, DType::F32>(dtype, f);
}
template <class F>
void with_fp8_type(DType dtype, const F& f) {
  with_type<DType::F8E5M2, DType::F8E4M3>(dtype, f);
}

// NaN where either is: what is not finite must not vanish beside what is larger than it.
float larger_of(float a, float b) {
  return a >= b || std::isnan(a) ? a : b;
}

// The largest f(begin, end) over chunks of rows, 0 when there are none. There are no more chunks
// than partial results on the stack, and each fills whole cache lines of a transposed copy.
template <class F>
float largest_of_chunks(Context& ctx, int64_t num_rows, const F& f) {
  constexpr int64_t kMaxChunks = 256, kRowStep = 64;
  const int64_t even = (num_rows + kMaxChunks - 1) / kMaxChunks;
  const int64_t rows = std::max<int64_t>(1, (even + kRowStep - 1) / kRowStep) * kRowStep;
  float partials[kMaxChunks] = {};
  for_chunks(ctx, num_rows, rows,
             [&](int64_t begin, int64_t end) { partials[begin / rows] = f(begin, end); });
  return std::accumulate(partials, partials + kMaxChunks, 0.0f, larger_of);
}

template <class T>
float amax_of(Context& ctx, const Tensor& x) {
  const T* values = x.as<T>();  // (N, C), rows may be strided
  const int64_t C = x.shape[1];
  return largest_of_chunks(ctx, x.shape[0], [&](int64_t begin, int64_t end) {
    float largest = 0.0f;
    for (int64_t n = begin; n < end; ++n) {
      const T* row = values + n * x.strides[0];
      for (int64_t c = 0; c < C; ++c) largest = larger_of(largest, std::abs(to_float(row[c])));
    }
    return largest;
  });
}

// Returns the largest |value|.
template <class T, class F8>
float quantize_values(Context& ctx, const Tensor& x, const Quantized& out) {
  const int64_t N = x.shape[0], C = x.shape[1];
  const T* values = x.as<T>();                                                    // (N, C)
  F8* rows = out.rows.defined() ? out.rows.as<F8>() : nullptr;                    // (N, C)
  F8* transposed = out.transposed.defined() ? out.transposed.as<F8>() : nullptr;  // (C, N)
  const float scale = *out.scale.as<float>(), limit = fp8_limit(dtype_of<F8>());
  return largest_of_chunks(ctx, N, [&](int64_t begin, int64_t end) {
    float largest = 0.0f;
    for (int64_t n = begin; n < end; ++n) {
      const T* row = values + n * x.strides[0];
      for (int64_t c = 0; c < C; ++c) {
        const float value = to_float(row[c]);
        largest = larger_of(largest, std::abs(value));
        // Clamped before it is rounded: F8E5M2 has an infinity. NaN passes.
        const F8 code = F8::from_float(std::clamp(value * scale, -limit, limit));
        if (rows) rows[n * C + c] = code;
        if (transposed) transposed[c * N + n] = code;
      }
    }
    return largest;
  });
}

bool sets_a_scale(float amax) {
  return amax > 0.0f && std::isfinite(amax);
}

// The largest power of two with scale · amax <= limit, for an amax that sets one.
float scale_for(float amax, float limit) {
  // With both as fraction · 2^exponent, fractions in [½, 1), a power of two moves exponents only.
  int amax_exponent = 0, limit_exponent = 0;
  const float amax_fraction = std::frexp(amax, &amax_exponent);
  const float limit_fraction = std::frexp(limit, &limit_exponent);
  const int exponent = limit_exponent - amax_exponent - (amax_fraction > limit_fraction ? 1 : 0);
  constexpr int kLargest = 126;  // of a float whose inverse is not subnormal
  return std::ldexp(1.0f, std::min(exponent, kLargest));
}

}  // namespace

void quantize(Context& ctx, const Tensor& x, const Quantized& out) {
  float largest = 0.0f;
  with_input_type(x.dtype, [&](auto from) {
    with_fp8_type(out.rows.defined() ? out.rows.dtype : out.transposed.dtype, [&](auto to) {
      largest = quantize_values<decltype(from), decltype(to)>(ctx, x, out);
    });
  });
  if (!out.amax.defined()) return;
  float& amax = *out.amax.as<float>();
  amax = larger_of(amax, largest);
}

void quantize_by_own_scale(Context& ctx, const Tensor& x, const Quantized& out) {
  float& amax = *out.amax.as<float>();
  with_input_type(x.dtype, [&](auto from) { amax = amax_of<decltype(from)>(ctx, x); });
  const DType dtype = out.rows.defined() ? out.rows.dtype : out.transposed.dtype;
  const float scale = sets_a_scale(amax) ? scale_for(amax, fp8_limit(dtype)) : 1.0f;
  *out.scale.as<float>() = scale;
  *out.inverse.as<float>() = 1.0f / scale;
  cpu::quantize(ctx, x, out);
}

void update_scales(DType dtype, const ScaleState& state, const UpdateScalars& scalars) {
  const int64_t H = state.history.shape[0], S = state.history.shape[1];
  float* history = state.history.as<float>();  // (H, S)
  const bool skipped = scalars.values.as<double>()[kSkipped] != 0.0;
  if (!skipped) std::copy_backward(history, history + (H - 1) * S, history + H * S);
  for (int64_t s = 0; s < S; ++s) {
    const auto of = [&](const Tensor& row) -> float& {  // (S), strided
      return row.as<float>()[s * row.strides[0]];
    };
    if (skipped) {
      of(state.amax) = 0.0f;
      continue;
    }
    const bool finite = std::isfinite(of(state.amax));
    history[s] = finite ? of(state.amax) : 0.0f;
    of(state.amax) = 0.0f;
    float largest = 0.0f;
    for (int64_t h = 0; h < H; ++h) largest = std::max(largest, history[h * S + s]);
    if (finite && sets_a_scale(largest)) of(state.scale) = scale_for(largest, fp8_limit(dtype));
    of(state.inverse) = 1.0f / of(state.scale);
  }
}

}  // namespace ingot::cpu
