#include "ops/kernels/rope.h"

#include <algorithm>

#include "ops/cuda/common/lanes.cuh"
#include "ops/cuda/rope.cuh"

namespace ingot::cuda {
namespace {

template <class T>
struct Heads {
  T* data;  // (B, T, H, D) with these strides, rotated in place
  int64_t batch_stride, token_stride, head_stride;
  int64_t num_tokens;  // B·T
  int64_t tokens_per_row;
  int num_heads;
  int half;  // D / 2
};

template <class A>
struct Angles {
  const A *cos, *sin;        // (context, D/2)
  const int32_t* positions;  // (B, T), or null:
  int64_t first_position;    // then token t of each row is at first_position + t
};

template <RopePairs kPairs_, cpu::Rotation kRotation_>
struct Turn {
  static constexpr RopePairs kPairs = kPairs_;
  static constexpr cpu::Rotation kRotation = kRotation_;
};

// Pairs (i, i + D/2) are at the same place of two parts; pairs (2i, 2i + 1) are adjacent, first in
// the first part and then in the second.
template <class Turn, class T, int kWidth>
__device__ __forceinline__ void rotate(Lanes<T, kWidth> (&parts)[2],
                                       const Vec<Compute<T>, kWidth>& c,
                                       const Vec<Compute<T>, kWidth>& s) {
  using A = Compute<T>;
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    constexpr bool kHalves = Turn::kPairs == RopePairs::HalfSplit;
    const int low = 2 * k, high = 2 * k + 1;
    A& real = kHalves ? parts[0].v[k] : parts[low / kWidth].v[low % kWidth];
    A& imaginary = kHalves ? parts[1].v[k] : parts[high / kWidth].v[high % kWidth];
    turn(real, imaginary, c.v[k], Turn::kRotation == cpu::Rotation::Forward ? s.v[k] : -s.v[k]);
  }
}

constexpr int kHeadsAtOnce = 2;  // that a thread has under way

// threadIdx is (part, head, token): a thread turns kWidth pairs of a head at a time, and the heads
// of a token find its angles in the L1 cache.
template <class Turn, int kWidth, class T>
__global__ void rope_kernel(Heads<T> x, Angles<Compute<T>> angles) {
  using A = Compute<T>;
  const int64_t token = static_cast<int64_t>(blockIdx.x) * blockDim.z + threadIdx.z;
  if (token >= x.num_tokens) return;
  const int64_t b = token / x.tokens_per_row, t = token - b * x.tokens_per_row;
  const int64_t position =
      angles.positions != nullptr ? angles.positions[token] : angles.first_position + t;
  T* heads = x.data + b * x.batch_stride + t * x.token_stride;  // (H, D)
  const int heads_apart = static_cast<int>(blockDim.y);

  for (int i = threadIdx.x * kWidth; i < x.half; i += blockDim.x * kWidth) {
    constexpr bool kHalves = Turn::kPairs == RopePairs::HalfSplit;
    const int first = kHalves ? i : 2 * i, second = kHalves ? i + x.half : 2 * i + kWidth;
    const auto c = load_vec<A, kWidth>(angles.cos + position * x.half + i);
    const auto s = load_vec<A, kWidth>(angles.sin + position * x.half + i);
    for (int h = threadIdx.y; h < x.num_heads; h += kHeadsAtOnce * heads_apart) {
      Raw<T, kWidth> raw[kHeadsAtOnce][2];
#pragma unroll
      for (int a = 0; a < kHeadsAtOnce; ++a) {
        const T* head = heads + (h + a * heads_apart) * x.head_stride;
        if (h + a * heads_apart < x.num_heads) {
          raw[a][0] = load_raw<kWidth>(head + first);
          raw[a][1] = load_raw<kWidth>(head + second);
        }
      }
#pragma unroll
      for (int a = 0; a < kHeadsAtOnce; ++a) {
        T* head = heads + (h + a * heads_apart) * x.head_stride;
        if (h + a * heads_apart < x.num_heads) {
          Lanes<T, kWidth> parts[2] = {unpack<T>(raw[a][0]), unpack<T>(raw[a][1])};
          rotate<Turn>(parts, c, s);
          store_lanes(head + first, parts[0]);
          store_lanes(head + second, parts[1]);
        }
      }
    }
  }
}

// Blocks of about 256 threads, or of a whole token's where it needs more.
dim3 threads_for(int64_t num_parts, int64_t num_heads) {
  const int64_t parts = std::min<int64_t>(num_parts, 256);
  const int64_t heads = std::min((num_heads + kHeadsAtOnce - 1) / kHeadsAtOnce, 512 / parts);
  const int64_t tokens = std::clamp<int64_t>(256 / (parts * heads), 1, 64);
  return {static_cast<unsigned>(parts), static_cast<unsigned>(heads),
          static_cast<unsigned>(tokens)};
}

template <class T, int kWidth>
auto kernel_for(RopePairs pairs, cpu::Rotation rotation) {
  using enum RopePairs;
  using enum cpu::Rotation;
  if (rotation == Forward)
    return pairs == HalfSplit ? rope_kernel<Turn<HalfSplit, Forward>, kWidth, T>
                              : rope_kernel<Turn<Interleaved, Forward>, kWidth, T>;
  return pairs == HalfSplit ? rope_kernel<Turn<HalfSplit, Inverse>, kWidth, T>
                            : rope_kernel<Turn<Interleaved, Inverse>, kWidth, T>;
}

template <class T>
bool fits(const Tensor& x, const Heads<T>& heads, const Angles<Compute<T>>& angles) {
  const int64_t half = heads.half;
  bool whole = fits_vec(heads.data, half);
  for (int dim = 0; dim < 3; ++dim)
    whole = whole && (x.shape[dim] == 1 || fits_vec(heads.data, x.strides[dim]));
  return whole && fits_vec(angles.cos, half) && fits_vec(angles.sin, half);
}

}  // namespace

void rope(Context& ctx, const Tensor& x, const RopeInput& rope, cpu::Rotation rotation) {
  if (x.numel() == 0) return;
  with_device_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    const Heads<T> heads{.data = static_cast<T*>(x.data),
                         .batch_stride = x.strides[0],
                         .token_stride = x.strides[1],
                         .head_stride = x.strides[2],
                         .num_tokens = x.shape[0] * x.shape[1],
                         .tokens_per_row = x.shape[1],
                         .num_heads = static_cast<int>(x.shape[2]),
                         .half = static_cast<int>(x.shape[3] / 2)};
    const Angles<A> angles{.cos = static_cast<const A*>(rope.cos.data),
                           .sin = static_cast<const A*>(rope.sin.data),
                           .positions = static_cast<const int32_t*>(rope.positions.data),
                           .first_position = rope.first_position};
    with_width<T>(fits(x, heads, angles), [&](auto width) {
      const dim3 threads = threads_for(heads.half / width, heads.num_heads);
      launch({ctx, blocks_for(heads.num_tokens, threads.z), threads},
             kernel_for<T, width>(rope.pairs, rotation), heads, angles);
    });
  });
}

}  // namespace ingot::cuda
