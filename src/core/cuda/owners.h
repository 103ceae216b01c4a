// Owners of CUDA runtime handles: released at the end of a scope, also when a constructor throws.
// The destructors do not wait: if work in flight may still use a handle, its holder waits first.
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

OwnedStream make_stream();       // does not synchronise with the default stream
OwnedEvent make_event();         // for ordering only
OwnedEvent make_timing_event();  // records time

struct FreePinned {
  void operator()(void* data) const { cudaFreeHost(data); }
};
using PinnedMemory = std::unique_ptr<void, FreePinned>;

// Page-locked host memory, which kernels and copies access asynchronously. Throws ErrorCode::Memory
// if there is not enough.
PinnedMemory allocate_pinned(int64_t bytes);

}  // namespace ingot
