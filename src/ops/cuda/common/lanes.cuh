// Elements in registers for kernels of two widths: 16 bytes at a time, and one element at a time
// for rows that are not a multiple of 16 bytes.
#pragma once

#include "ops/cuda/common/device.cuh"

namespace ingot::cuda {

template <class T, int kWidth>
struct Lanes {
  Compute<T> v[kWidth];
};

// 16 bytes of elements in their memory format, for kernels that hold many. A Vec<__nv_bfloat16>
// takes a register per element as soon as it is selected or kept; this takes four.
struct alignas(16) Packed {
  uint32_t bits[4] = {0, 0, 0, 0};
};

template <class T>
__device__ __forceinline__ Packed load_packed(const T* from) {
  return *reinterpret_cast<const Packed*>(from);
}
template <class T>
__device__ __forceinline__ void store_packed(T* to, const Packed& packed) {
  *reinterpret_cast<Packed*>(to) = packed;
}

template <class T>
__device__ __forceinline__ Lanes<T, Vec<T>::kSize> unpack(const Packed& packed) {
  Lanes<T, Vec<T>::kSize> lanes;
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {  // the upper half of a float
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      lanes.v[2 * i] = __uint_as_float(packed.bits[i] << 16);
      lanes.v[2 * i + 1] = __uint_as_float(packed.bits[i] & 0xffff0000u);
    }
  } else {
    const Vec<T> vec = std::bit_cast<Vec<T>>(packed);
#pragma unroll
    for (int i = 0; i < Vec<T>::kSize; ++i) lanes.v[i] = static_cast<Compute<T>>(vec.v[i]);
  }
  return lanes;
}

template <class T>
__device__ __forceinline__ Packed pack(const Lanes<T, Vec<T>::kSize>& lanes) {
  Vec<T> vec;
#pragma unroll
  for (int i = 0; i < Vec<T>::kSize; ++i) vec.v[i] = static_cast<T>(lanes.v[i]);
  return std::bit_cast<Packed>(vec);
}

// The same in memory format, for kernels that load much before they compute.
template <class T, int kWidth>
using Raw = std::conditional_t<kWidth == 1, Vec<T, 1>, Packed>;

template <class T>
__device__ __forceinline__ Lanes<T, 1> unpack(const Vec<T, 1>& element) {
  return {{static_cast<Compute<T>>(element.v[0])}};
}

template <int kWidth, class T>
__device__ __forceinline__ Raw<T, kWidth> load_raw(const T* from) {
  return *reinterpret_cast<const Raw<T, kWidth>*>(from);
}

template <int kWidth, class T>
__device__ __forceinline__ Lanes<T, kWidth> load_lanes(const T* from) {
  return unpack<T>(load_raw<kWidth>(from));
}

template <class T, int kWidth>
__device__ __forceinline__ void store_lanes(T* to, const Lanes<T, kWidth>& lanes) {
  if constexpr (kWidth == 1) {
    *to = static_cast<T>(lanes.v[0]);
  } else {
    store_packed(to, pack<T>(lanes));
  }
}

// Makes the compiler unpack again. Otherwise it keeps the unpacked values, which take twice the
// registers.
__device__ __forceinline__ void keep_packed(Packed& packed) {
  asm volatile(""
               : "+r"(packed.bits[0]), "+r"(packed.bits[1]), "+r"(packed.bits[2]),
                 "+r"(packed.bits[3]));
}

// Makes the compiler recompute values that depend on `value`, such as addresses, instead of keeping
// them.
__device__ __forceinline__ int computed_again(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

// Calls f(std::integral_constant<int, width>{}) with a vector's width when it `fits`, else 1.
template <class T, class F>
void with_width(bool fits, const F& f) {
  if (fits) {
    f(std::integral_constant<int, Vec<T>::kSize>{});
  } else {
    f(std::integral_constant<int, 1>{});
  }
}

}  // namespace ingot::cuda
