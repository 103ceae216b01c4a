// Shared by the kernels that round to 8 bits: conversion, the running maximum, and the transposed
// copy through shared memory.
#pragma once

#include <cuda_fp8.h>

#include "ops/cuda/common/lanes.cuh"
#include "ops/fp8.h"

namespace ingot::cuda {

// A Quantized as a kernel argument. Q: __nv_fp8_e4m3 or __nv_fp8_e5m2.
template <class Q>
struct QuantizedView {
  explicit QuantizedView(const Quantized& q)
      : rows(static_cast<uint8_t*>(q.rows.data)),
        transposed(static_cast<uint8_t*>(q.transposed.data)),
        scale(static_cast<const float*>(q.scale.data)),
        amax(static_cast<float*>(q.amax.data)) {}

  uint8_t* rows;        // (N, C), or null
  uint8_t* transposed;  // (C, N), or null
  const float* scale;   // (1)
  float* amax;          // (1), or null
};

template <>
struct DeviceElementOf<DType::F8E4M3> {
  using Type = __nv_fp8_e4m3;
};
template <>
struct DeviceElementOf<DType::F8E5M2> {
  using Type = __nv_fp8_e5m2;
};

// Calls f(T{}) with the device type of the elements that are rounded to 8 bits.
template <class F>
void with_rounded_type(DType dtype, const F& f) {
  with_device_type_of<DType::BF16, DType::F32>(dtype, f);
}

// Calls f(Q{}) with the device type of 8-bit `dtype`.
template <class F>
void with_fp8_type(DType dtype, const F& f) {
  with_device_type_of<DType::F8E5M2, DType::F8E4M3>(dtype, f);
}

// Calls f(T{}) with the device type of any float, storage-only types included.
template <class F>
void with_any_float_type(DType dtype, const F& f) {
  with_device_type_of<DType::F32, DType::BF16, DType::F16, DType::F64, DType::F8E4M3,
                      DType::F8E5M2>(dtype, f);
}

// Four scaled numbers as four bytes, the first lowest; values beyond the limit saturate.
template <class Q>
__device__ __forceinline__ uint32_t quantize4(float a, float b, float c, float d) {
  constexpr auto kKind = std::is_same_v<Q, __nv_fp8_e5m2> ? __NV_E5M2 : __NV_E4M3;
  const uint32_t low = __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, kKind);
  const uint32_t high = __nv_cvt_float2_to_fp8x2(make_float2(c, d), __NV_SATFINITE, kKind);
  return low | high << 16;
}

// The larger of amax and |value|; NaN if one is NaN, where fmaxf would drop it.
struct MaxMagnitude {
  __device__ __forceinline__ float operator()(float amax, float value) const {
    float larger;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(amax), "f"(fabsf(value)));
    return larger;
  }
};

// Raises *amax to the largest |value| of the block; all kThreads must take part. The bits of
// non-negative floats have the order of their values, with infinity and then NaN on top, and a
// maximum does not depend on the order of updates.
template <int kThreads>
__device__ __forceinline__ void raise_amax(float value, float* amax, float* shared) {
  value = block_reduce<kThreads>(fabsf(value), shared, 0.0f, MaxMagnitude{});
  if (threadIdx.x == 0 && value != 0.0f)
    atomicMax(reinterpret_cast<int*>(amax), __float_as_int(value));
}

// A tile of kTokens rows of 8-bit values in shared memory, four features per word. The stride in
// words is odd, so that threads that read a column use different banks.
inline constexpr int kTokensPerVector = 16;
__host__ __device__ constexpr int tile_stride(int features) {
  return features / 4 | 1;
}

// Writes tile(kTokens, features), rows `stride` words apart, to out(features, num_tokens of the
// tensor), starting at token first_token; `out` points to the tile's first feature. All kThreads of
// the block call it, after a barrier. Each feature gets kTokens consecutive bytes: kTokens is a
// multiple of 16, and 32 of them fill a sector. features is a multiple of 4; num_tokens and
// first_token are multiples of 16.
template <int kThreads, int kTokens>
__device__ __forceinline__ void store_transposed(const uint32_t* tile, int stride, int features,
                                                 uint8_t* out, int64_t num_tokens,
                                                 int64_t first_token) {
  constexpr int kParts = kTokens / kTokensPerVector;  // vectors of a feature, neighbouring threads
  const int jobs = features / 4 * kParts;
  for (int job = threadIdx.x; job < jobs; job += kThreads) {
    const int word = job / kParts, first_row = job % kParts * kTokensPerVector;
    if (first_token + first_row >= num_tokens) continue;
    uint4 vectors[4];  // of the word's four features
#pragma unroll
    for (int quad = 0; quad < 4; ++quad) {
      const uint32_t* from = tile + (first_row + 4 * quad) * stride + word;
      const uint32_t a = from[0], b = from[stride], c = from[2 * stride], d = from[3 * stride];
      const uint32_t ab_low = __byte_perm(a, b, 0x5140), cd_low = __byte_perm(c, d, 0x5140);
      const uint32_t ab_high = __byte_perm(a, b, 0x7362), cd_high = __byte_perm(c, d, 0x7362);
      (&vectors[0].x)[quad] = __byte_perm(ab_low, cd_low, 0x5410);
      (&vectors[1].x)[quad] = __byte_perm(ab_low, cd_low, 0x7632);
      (&vectors[2].x)[quad] = __byte_perm(ab_high, cd_high, 0x5410);
      (&vectors[3].x)[quad] = __byte_perm(ab_high, cd_high, 0x7632);
    }
#pragma unroll
    for (int f = 0; f < 4; ++f)
      *reinterpret_cast<uint4*>(out + (4 * word + f) * num_tokens + first_token + first_row) =
          vectors[f];
  }
}

// The same for a tile whose rows are tile_stride(features) apart.
template <int kThreads, int kTokens>
__device__ __forceinline__ void store_transposed(const uint32_t* tile, int features, uint8_t* out,
                                                 int64_t num_tokens, int64_t first_token) {
  store_transposed<kThreads, kTokens>(tile, tile_stride(features), features, out, num_tokens,
                                      first_token);
}

}  // namespace ingot::cuda
