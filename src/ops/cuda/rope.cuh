// The rotation, for the kernel that rotates heads in place and for the GEMM that computes them.
#pragma once

namespace ingot::cuda {

template <class A>
__device__ __forceinline__ void turn(A& real, A& imaginary, A cosine, A sine) {
  const A turned = real * cosine - imaginary * sine;
  imaginary = imaginary * cosine + real * sine;
  real = turned;
}

}  // namespace ingot::cuda
