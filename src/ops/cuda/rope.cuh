// The rotation, for the kernel that turns heads where they lie and for the product that makes them.
#pragma once

namespace ingot::cuda {

template <class A>
__device__ __forceinline__ void turn(A& real, A& imaginary, A cosine, A sine) {
  const A turned = real * cosine - imaginary * sine;
  imaginary = imaginary * cosine + real * sine;
  real = turned;
}

}  // namespace ingot::cuda
