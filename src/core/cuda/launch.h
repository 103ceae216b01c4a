// Checked calls into the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <source_location>
#include <utility>

#include "core/cuda/cuda_context.h"

namespace ingot {

// Throws ErrorCode::Device (Memory when out of memory) with the call's place and CUDA's message.
void cuda_check(cudaError_t status, std::source_location place = std::source_location::current());

// Launch parameters: launch({ctx, blocks, threads}, kernel, arguments…).
struct LaunchShape {
  const Context& ctx;
  dim3 blocks;
  dim3 threads;
  size_t shared_bytes = 0;  // dynamic; above 48 KB call allow_shared_memory() first
  unsigned cluster = 1;  // blocks along x that share their memory; only launch_early() takes more
  std::source_location place = std::source_location::current();
};

// Raises a kernel's dynamic shared memory limit to the GPU's maximum. Never to less: ranks that
// share a GPU launch one kernel with several sizes at once, and the limit is per kernel.
void allow_shared_memory(const Context& ctx, const void* kernel);
template <class... Parameters>
void allow_shared_memory(const Context& ctx, void (*kernel)(Parameters...)) {
  allow_shared_memory(ctx, reinterpret_cast<const void*>(kernel));
}

#ifdef __CUDACC__  // only nvcc knows how to start a kernel
// An empty grid launches nothing.
template <class... Parameters, class... Arguments>
void launch(const LaunchShape& shape, void (*kernel)(Parameters...), Arguments&&... arguments) {
  if (shape.blocks.x == 0 || shape.blocks.y == 0 || shape.blocks.z == 0) return;
  kernel<<<shape.blocks, shape.threads, shape.shared_bytes, stream_of(shape.ctx)>>>(
      static_cast<Parameters>(std::forward<Arguments>(arguments))...);
  cuda_check(cudaGetLastError(), shape.place);
}

// The same for a kernel that calls wait_for_previous() (ops/cuda/common/early.cuh) before it
// touches anything but weights. If these are at rest, its blocks may start while the kernel before
// it still runs.
template <class... Parameters, class... Arguments>
void launch_early(const LaunchShape& shape, void (*kernel)(Parameters...),
                  Arguments&&... arguments) {
  if (shape.ctx.cuda->properties().major < 9)
    return launch(shape, kernel, std::forward<Arguments>(arguments)...);
  if (shape.blocks.x == 0 || shape.blocks.y == 0 || shape.blocks.z == 0) return;
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = shape.ctx.cuda->weights_at_rest();
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {shape.cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = shape.blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream_of(shape.ctx);
  config.attrs = attributes;
  config.numAttrs = shape.cluster > 1 ? 2 : 1;
  cuda_check(cudaLaunchKernelEx(&config, kernel,
                                static_cast<Parameters>(std::forward<Arguments>(arguments))...),
             shape.place);
}
#endif

inline unsigned blocks_for(int64_t items, int64_t items_per_block) {
  return static_cast<unsigned>((items + items_per_block - 1) / items_per_block);
}

}  // namespace ingot
