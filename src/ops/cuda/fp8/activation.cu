#include "ops/cuda/activation.cuh"
#include "ops/cuda/fp8/map.cuh"
#include "ops/kernels/fp8.h"

namespace ingot::cuda {
namespace {

struct SwigluForward {  // gate, up → out
  static constexpr int kInputs = 2, kOutputs = 1, kMeasured = 1;
  using Type = __nv_fp8_e4m3;
  template <class T>
  static __device__ void apply(const float (&in)[2], float (&out)[1]) {
    out[0] = swiglu<T>(in[0], in[1]);
  }
};

struct SwigluBackward {  // dout, gate, up → dgate, dup, out
  static constexpr int kInputs = 3, kOutputs = 3, kMeasured = 2;
  using Type = __nv_fp8_e5m2;
  template <class T>
  static __device__ void apply(const float (&in)[3], float (&out)[3]) {
    const auto gradient = swiglu_gradient<T>(in[0], in[1], in[2]);
    out[0] = gradient.dgate;
    out[1] = gradient.dup;
    out[2] = gradient.out;
  }
};

struct ReluSquaredForward {  // x → out
  static constexpr int kInputs = 1, kOutputs = 1, kMeasured = 1;
  using Type = __nv_fp8_e4m3;
  template <class T>
  static __device__ void apply(const float (&in)[1], float (&out)[1]) {
    out[0] = relu_squared(in[0]);
  }
};

struct ReluSquaredBackward {  // dout, x → dx, out
  static constexpr int kInputs = 2, kOutputs = 2, kMeasured = 1;
  using Type = __nv_fp8_e5m2;
  template <class T>
  static __device__ void apply(const float (&in)[2], float (&out)[2]) {
    out[0] = relu_squared_gradient(in[0], in[1]);
    out[1] = relu_squared(in[1]);
  }
};

float* amax_of(const Quantized& q) {
  return static_cast<float*>(q.amax.data);
}

}  // namespace

void swiglu_forward_fp8(Context& ctx, const Tensor& gate_up, const Quantized& out) {
  with_rounded_type(gate_up.dtype, [&](auto tag) {
    using T = decltype(tag);
    const int64_t N = gate_up.shape[0], F = gate_up.shape[1] / 2;
    map_to_fp8<SwigluForward, T>(ctx, {.N = N,
                                       .C = static_cast<int>(F),
                                       .in = {map_input<T>(gate_up), map_input<T>(gate_up, F)},
                                       .out = {map_output(out)},
                                       .amax = amax_of(out)});
  });
}

void swiglu_backward_fp8(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                         const Quantized& dgate_up, const Quantized& out) {
  with_rounded_type(dout.dtype, [&](auto tag) {
    using T = decltype(tag);
    const int64_t N = dout.shape[0], F = dout.shape[1];
    map_to_fp8<SwigluBackward, T>(
        ctx, {.N = N,
              .C = static_cast<int>(F),
              .in = {map_input<T>(dout), map_input<T>(gate_up), map_input<T>(gate_up, F)},
              .out = {map_output(dgate_up), map_output(dgate_up, F), map_output(out)},
              .amax = amax_of(dgate_up)});
  });
}

void relu_squared_forward_fp8(Context& ctx, const Tensor& x, const Quantized& out) {
  with_rounded_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    map_to_fp8<ReluSquaredForward, T>(ctx, {.N = x.shape[0],
                                            .C = static_cast<int>(x.shape[1]),
                                            .in = {map_input<T>(x)},
                                            .out = {map_output(out)},
                                            .amax = amax_of(out)});
  });
}

void relu_squared_backward_fp8(Context& ctx, const Tensor& dout, const Tensor& x,
                               const Quantized& dx, const Quantized& out) {
  with_rounded_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    map_to_fp8<ReluSquaredBackward, T>(ctx, {.N = x.shape[0],
                                             .C = static_cast<int>(x.shape[1]),
                                             .in = {map_input<T>(dout), map_input<T>(x)},
                                             .out = {map_output(dx), map_output(out)},
                                             .amax = amax_of(dx)});
  });
}

}  // namespace ingot::cuda
