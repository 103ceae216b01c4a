// The pointwise maths of the activations. Kernels that keep the input's dtype and kernels that
// round to 8 bits share it, since both must give the same bits.
#pragma once

#include "ops/cuda/common/device.cuh"

namespace ingot::cuda {

// The fast exponential has an error of at most 2e-6 where silu matters: negligible for 16-bit
// storage, too large for 32-bit. The flushing forms save the scaling that subnormal results need;
// such a power is negligible beside 1, such an inverse beside any gate.
template <class T>
__device__ __forceinline__ Compute<T> sigmoid(Compute<T> x) {
  using A = Compute<T>;
  if constexpr (sizeof(T) < sizeof(float)) {
    float power, inverse;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-1.442695041f * x));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
    return inverse;
  } else {
    return A{1} / (A{1} + exp(-x));
  }
}

// silu(gate) · up
template <class T>
__device__ __forceinline__ Compute<T> swiglu(Compute<T> gate, Compute<T> up) {
  return gate * sigmoid<T>(gate) * up;
}

template <class A>
struct SwigluGradient {
  A dgate, dup;
  A out;  // the forward output, rebuilt
};

template <class T>
__device__ __forceinline__ SwigluGradient<Compute<T>> swiglu_gradient(Compute<T> dout,
                                                                      Compute<T> gate,
                                                                      Compute<T> up) {
  using A = Compute<T>;
  const A s = sigmoid<T>(gate);
  const A silu = gate * s;
  // silu' = s + gate·s·(1 - s)
  return {dout * up * fma(silu, A{1} - s, s), dout * silu, silu * up};
}

// x · sigmoid(2u), where u = √(2/π)·(x + 0.044715·x³): (1 + tanh u)/2 is sigmoid(2u).
template <class A>
struct GeluCurve {
  A value, slope;
};

template <class T>
__device__ __forceinline__ GeluCurve<Compute<T>> gelu_curve(Compute<T> x) {
  using A = Compute<T>;
  constexpr A kTwice = static_cast<A>(1.5957691216057308);  // 2·√(2/π)
  constexpr A kCubic = static_cast<A>(0.044715);
  const A square = x * x;
  const A s = sigmoid<T>(kTwice * x * (A{1} + kCubic * square));
  const A gelu = x * s;
  return {gelu, fma(gelu * (A{1} - s), kTwice * (A{1} + A{3} * kCubic * square), s)};
}

// max(x, 0), and NaN for NaN, so that a NaN stays visible.
template <class A>
__device__ __forceinline__ A relu(A x) {
  return x < A{0} ? A{0} : x;
}

template <class A>
__device__ __forceinline__ A relu_squared(A x) {
  return relu(x) * relu(x);
}

template <class A>
__device__ __forceinline__ A relu_squared_gradient(A dout, A x) {
  return A{2} * relu(x) * dout;
}

}  // namespace ingot::cuda
