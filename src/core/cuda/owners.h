// Owners of what the CUDA runtime hands out: given back at the end of a scope, also when a
// constructor throws half-way. None of them waits: where work under way may still use what is
// about to go, its holder waits first.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace ingot {

struct GiveBack {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, GiveBack>;
using OwnedStream = Owned<cudaStream_t>;
using OwnedEvent = Owned<cudaEvent_t>;

OwnedStream make_stream();       // that does not wait for the default one
OwnedEvent make_event();         // for order alone
OwnedEvent make_timing_event();  // whose time can be read

struct FreePinned {
  void operator()(void* data) const { cudaFreeHost(data); }
};
using PinnedMemory = std::unique_ptr<void, FreePinned>;

// Page-locked host memory, which kernels and copies reach while the host goes on. Throws
// ErrorCode::Memory when there is not as much.
PinnedMemory allocate_pinned(int64_t bytes);

}  // namespace ingot
