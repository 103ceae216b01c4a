// Shared by all GPU kernels: element types, 16-byte vectors, and reductions in a fixed order.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

// fmt 9 assumes that nvcc lacks constexpr, and then does not compile.
#ifndef FMT_USE_CONSTEXPR
#define FMT_USE_CONSTEXPR 1
#endif

#include "core/cuda/launch.h"
#include "core/error/error.h"
#include "core/tensor/visit_dtype.h"

namespace ingot::cuda {

// The type of elements in kernels, with the bits of that on the host. Of 8-bit floats: fp8.cuh.
template <DType kDType>
struct DeviceElementOf : ElementOf<kDType> {
  static_assert(kDType != DType::F8E4M3 && kDType != DType::F8E5M2, "include ops/cuda/fp8/fp8.cuh");
};
template <>
struct DeviceElementOf<DType::BF16> {
  using Type = __nv_bfloat16;
};
template <>
struct DeviceElementOf<DType::F16> {
  using Type = __half;
};

// Calls f(T{}) with the device type for elements of `dtype`; throws ErrorCode::Missing for one
// beside kDTypes.
template <DType... kDTypes, class F>
void with_device_type_of(DType dtype, const F& f) {
  if (visit_dtype_as<DeviceElementOf, kDTypes...>(dtype, f)) return;
  std::string names;
  for (const DType known : {kDTypes...})
    names += (names.empty() ? "" : ", ") + std::string(name_of(known));
  throw Error(ErrorCode::Missing, fmt::format("this op computes on {} on a GPU; got elements of {}",
                                              names, name_of(dtype)));
}

// Of the floats that GPU kernels compute on.
template <class F>
void with_device_type(DType dtype, const F& f) {
  with_device_type_of<DType::F32, DType::BF16, DType::F16, DType::F64>(dtype, f);
}

// The type of arithmetic on T. static_cast converts both ways, rounding to nearest even.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
__device__ __forceinline__ float to_float(T value) {
  return static_cast<float>(value);
}

template <class T>
__device__ __forceinline__ T from_float(float value) {
  return static_cast<T>(value);
}

// N elements that are loaded and stored together, 16 bytes of them unless N says otherwise. The
// address must be a multiple of 16, or of their size if that is less (see fits_vec).
template <class T, int N = static_cast<int>(16 / sizeof(T))>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) Vec {
  static constexpr int kSize = N;
  T v[N];
};

// Whether consecutive rows of `width` elements from `data` on can be read as Vec<T>. Check a
// tensor's strides the same way: fits_vec(data, tensor.strides[0]).
template <class T>
bool fits_vec(const T* data, int64_t width) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0 && width % Vec<T>::kSize == 0;
}

template <class T, int N = Vec<T>::kSize>
__device__ __forceinline__ Vec<T, N> load_vec(const T* from) {
  return *reinterpret_cast<const Vec<T, N>*>(from);
}

// `to` is in global memory. Uses assembly, since the compiler sometimes splits plain stores of a
// Vec.
template <class T, int N>
__device__ __forceinline__ void store_vec(T* to, const Vec<T, N>& vec) {
  constexpr int kBytes = static_cast<int>(N * sizeof(T));
  [[maybe_unused]] const auto address = __cvta_generic_to_global(to);
  if constexpr (kBytes < 8) {
    *reinterpret_cast<Vec<T, N>*>(to) = vec;
  } else if constexpr (kBytes == 8) {
    const auto w = std::bit_cast<uint2>(vec);
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(w.x), "r"(w.y) : "memory");
  } else {
    const auto words = std::bit_cast<Vec<uint4, kBytes / 16>>(vec);
#pragma unroll
    for (int i = 0; i < kBytes / 16; ++i) {
      const uint4 w = words.v[i];
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address + 16 * i), "r"(w.x),
                   "r"(w.y), "r"(w.z), "r"(w.w)
                   : "memory");
    }
  }
}

// For data that is not reused soon: leaves the L2 to other data. The compiler keeps the program
// order of these and of store_vec: a loop that needs several loads in flight issues them first.
template <class T>
__device__ __forceinline__ Vec<T> load_vec_streaming(const T* from) {
  return std::bit_cast<Vec<T>>(__ldcs(reinterpret_cast<const uint4*>(from)));
}

template <class T>
__device__ __forceinline__ void store_vec_streaming(T* to, const Vec<T>& vec) {
  __stcs(reinterpret_cast<uint4*>(to), std::bit_cast<uint4>(vec));
}

inline constexpr int kWarp = 32;

struct Add {
  template <class V>
  __device__ V operator()(V a, V b) const {
    return a + b;
  }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// Reduces over groups of kLanes adjacent lanes; all 32 lanes must take part. Every lane of a group
// gets the same bits. V: float or double.
template <int kLanes = kWarp, class V, class Op>
__device__ __forceinline__ V warp_reduce(V value, Op op) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    value = op(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

template <class V>
__device__ __forceinline__ V warp_sum(V value) {
  return warp_reduce(value, Add{});
}
__device__ __forceinline__ float warp_max(float value) {
  return warp_reduce(value, Max{});
}

// Reduces over all kThreads of a one-dimensional block, which must all take part; every thread gets
// the result. `shared`: kThreads / 32 values, which may be reused from an earlier reduction.
template <int kThreads, class V, class Op>
__device__ __forceinline__ V block_reduce(V value, V* shared, V neutral, Op op) {
  static_assert(kThreads % kWarp == 0 && kThreads <= kWarp * kWarp, "expected 1 to 32 whole warps");
  const int warp = static_cast<int>(threadIdx.x) / kWarp,
            lane = static_cast<int>(threadIdx.x) % kWarp;
  value = warp_reduce(value, op);
  if constexpr (kThreads == kWarp) return value;
  __syncthreads();  // others may still be reading an earlier result
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  return warp_reduce(lane < kThreads / kWarp ? shared[lane] : neutral, op);
}

template <int kThreads, class V>
__device__ __forceinline__ V block_sum(V value, V* shared) {
  return block_reduce<kThreads>(value, shared, V{0}, Add{});
}
template <int kThreads>
__device__ __forceinline__ float block_max(float value, float* shared) {
  return block_reduce<kThreads>(value, shared, -INFINITY, Max{});
}

}  // namespace ingot::cuda
