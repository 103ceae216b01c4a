// For kernels that launch_early() starts while the kernel before them still runs, so that a chain
// of short kernels has no gaps. Before sm_90 kernels start one after the other, and these do
// nothing.
#pragma once

namespace ingot::cuda {

// Returns when all kernels before this one have ended and their writes are visible. Nothing that
// they write or read may be touched before, except to read weights.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel's blocks start where there is room, once all blocks of this one have called
// it or ended.
__device__ __forceinline__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace ingot::cuda
