#include "ops/kernels/fp8.h"

#include "ops/cuda/fp8/map.cuh"
#include "ops/kernels/memory.h"

namespace ingot::cuda {
namespace {

template <class Q>
struct Copy {
  static constexpr int kInputs = 1, kOutputs = 1, kMeasured = 1;
  using Type = Q;
  template <class T>
  static __device__ void apply(const float (&in)[1], float (&out)[1]) {
    out[0] = in[0];
  }
};

void round_to(Context& ctx, const Tensor& x, DType dtype, const MapOutput& out,
              const Tensor& amax) {
  with_rounded_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    with_fp8_type(dtype, [&](auto q) {
      map_to_fp8<Copy<decltype(q)>, T>(ctx, {.N = x.shape[0],
                                             .C = static_cast<int>(x.shape[1]),
                                             .in = {map_input<T>(x)},
                                             .out = {out},
                                             .amax = static_cast<float*>(amax.data)});
    });
  });
}

DType dtype_of_stored(const Quantized& q) {
  return q.rows.defined() ? q.rows.dtype : q.transposed.dtype;
}

// The largest power of two with scale · amax ≤ limit, found on exponents and mantissas, so exactly;
// at most 2^126, whose inverse is still a normal number. `otherwise` when amax tells nothing.
__device__ float scale_for(float amax, float limit, float otherwise) {
  if (!(amax > 0.0f) || isinf(amax)) return otherwise;
  int amax_exponent, limit_exponent;
  const float amax_mantissa = frexpf(amax, &amax_exponent);
  const float limit_mantissa = frexpf(limit, &limit_exponent);
  const int exponent = limit_exponent - amax_exponent - (amax_mantissa > limit_mantissa ? 1 : 0);
  return ldexpf(1.0f, min(exponent, 126));
}

__global__ void set_scale_kernel(const float* amax, float limit, float* scale, float* inverse) {
  *scale = scale_for(*amax, limit, 1.0f);
  *inverse = 1.0f / *scale;
}

constexpr int kScaleThreads = 128;

// A number for each tensor, with a stride between them.
struct ScaleRow {
  explicit ScaleRow(const Tensor& row)
      : data(row.as<float>()), stride(static_cast<int>(row.strides[0])) {}
  __device__ float& operator[](int s) const { return data[s * stride]; }

  float* data;
  int stride;
};

// amax, scale and inverse of S tensors, history(H, S), values as UpdateScalars'; a thread per
// tensor.
__global__ void __launch_bounds__(kScaleThreads)
    update_scales_kernel(ScaleRow amax, float* history, ScaleRow scale, ScaleRow inverse, int S,
                         int H, float limit, const double* values) {
  const int s = static_cast<int>(blockIdx.x * kScaleThreads + threadIdx.x);
  if (s >= S) return;
  const float latest = amax[s];
  amax[s] = 0.0f;
  if (values[kSkipped] != 0.0) return;
  const bool finite = isfinite(latest);
  float entering = finite ? latest : 0.0f;  // or the scale would stand still for H steps
  float largest = 0.0f;
  for (int h = 0; h < H; ++h) {
    float& place = history[static_cast<int64_t>(h) * S + s];
    const float leaving = place;
    place = entering;
    largest = fmaxf(largest, entering);
    entering = leaving;
  }
  if (finite) scale[s] = scale_for(largest, limit, scale[s]);
  inverse[s] = 1.0f / scale[s];
}

}  // namespace

void quantize(Context& ctx, const Tensor& x, const Quantized& out) {
  round_to(ctx, x, dtype_of_stored(out), map_output(out), out.amax);
}

void quantize_by_own_scale(Context& ctx, const Tensor& x, const Quantized& out) {
  const DType dtype = dtype_of_stored(out);
  MapOutput nothing = map_output(out);
  nothing.rows = nothing.transposed = nullptr;
  zero(ctx, out.amax);
  round_to(ctx, x, dtype, nothing, out.amax);
  launch({ctx, 1, 1}, set_scale_kernel, static_cast<const float*>(out.amax.data), fp8_limit(dtype),
         static_cast<float*>(out.scale.data), static_cast<float*>(out.inverse.data));
  round_to(ctx, x, dtype, map_output(out), Tensor{});
}

void update_scales(Context& ctx, DType dtype, const ScaleState& state,
                   const UpdateScalars& scalars) {
  const int64_t H = state.history.shape[0], S = state.history.shape[1];
  launch({ctx, blocks_for(S, kScaleThreads), kScaleThreads}, update_scales_kernel,
         ScaleRow(state.amax), state.history.as<float>(), ScaleRow(state.scale),
         ScaleRow(state.inverse), S, H, fp8_limit(dtype), scalars.values.as<double>());
}

}  // namespace ingot::cuda
