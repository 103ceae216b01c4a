// Compiled with --fmad=false: a fused multiply-add would round other than the CPU does.
#include "ops/kernels/random_fill.h"

#include "core/random/normal.h"
#include "ops/cuda/common/device.cuh"
#include "ops/cuda/common/philox.cuh"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;

// What a RandomStream is on the device.
struct Counter {
  uint32_t key0, key1, tensor, step;
};

// A thread makes the four values of one counter; the first `skip` of thread 0 lie before out(n),
// since a shard may start inside a block of four.
__global__ void fill_normal_kernel(Counter stream, uint64_t first_block, int skip, float scale,
                                   float* out, int64_t n, bool aligned) {
  const int64_t thread = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int64_t begin = 4 * thread - skip;
  if (begin >= n) return;
  const uint64_t block = first_block + static_cast<uint64_t>(thread);
  const uint4 words = philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                                  stream.tensor, stream.step},
                                 stream.key0, stream.key1);
  const NormalPair low = normal_pair(words.x, words.y), high = normal_pair(words.z, words.w);
  const Vec<float> values = {
      {scale * low.first, scale * low.second, scale * high.first, scale * high.second}};
  if (aligned && begin + 4 <= n) {
    store_vec_streaming(out + begin, values);
  } else {
    for (int i = 0; i < 4; ++i)
      if (begin + i >= 0 && begin + i < n) out[begin + i] = values.v[i];
  }
}

}  // namespace

void fill_normal(Context& ctx, const RandomStream& stream, uint64_t first_index, float scale,
                 const Tensor& out) {
  const int64_t n = out.numel();
  const int skip = static_cast<int>(first_index % 4);
  auto* values = out.as<float>();
  const bool aligned = skip == 0 && fits_vec(values, 0);
  const Counter counter = {stream.key()[0], stream.key()[1], stream.tensor(), stream.step()};
  launch({ctx, n == 0 ? 0 : blocks_for(n + skip, 4 * kThreads), kThreads}, fill_normal_kernel,
         counter, first_index / 4, skip, scale, values, n, aligned);
}

}  // namespace ingot::cuda
