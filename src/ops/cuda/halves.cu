#include "ops/kernels/halves.h"

#include "ops/cuda/common/device.cuh"
#include "ops/cuda/halves.cuh"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;

// One element a thread: this runs when weights are made, saved or restored, not in a step.
__global__ void split_halves_kernel(const float* __restrict__ exact, uint16_t* __restrict__ high,
                                    uint16_t* __restrict__ low, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const float value = exact[i];
  high[i] = high_half(value);
  low[i] = low_half(value);
}

__global__ void join_halves_kernel(const uint16_t* __restrict__ high,
                                   const uint16_t* __restrict__ low, float* __restrict__ exact,
                                   int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) exact[i] = join_halves(high[i], low[i]);
}

uint16_t* bits_of(const Tensor& tensor) {
  return static_cast<uint16_t*>(tensor.data);
}

}  // namespace

void split_halves(Context& ctx, const Tensor& exact, const Tensor& high, const Tensor& low) {
  const int64_t n = exact.numel();
  launch({ctx, blocks_for(n, kThreads), kThreads}, split_halves_kernel, exact.as<float>(),
         bits_of(high), bits_of(low), n);
}

void join_halves(Context& ctx, const Tensor& high, const Tensor& low, const Tensor& exact) {
  const int64_t n = exact.numel();
  launch({ctx, blocks_for(n, kThreads), kThreads}, join_halves_kernel, bits_of(high), bits_of(low),
         exact.as<float>(), n);
}

}  // namespace ingot::cuda
