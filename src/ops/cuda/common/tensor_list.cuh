// Any number of tensors in one launch: a table of them on the device, cut into chunks of equal
// size, one block per chunk.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/device/arena.h"
#include "ops/cuda/common/device.cuh"
#include "ops/kernels/memory.h"

namespace ingot::cuda {

// Entry: trivially copyable, comparable, with the tensor's int64_t n and first_chunk, which is set
// here. A list belongs to one op of one context (CudaContext::library).
template <class Entry, int64_t kElementsPerChunk>
class TensorList {
 public:
  // Sets the list. The entries are copied to the device only if they differ from the last ones.
  void set(Context& ctx, std::vector<Entry> entries) {
    num_chunks_ = 0;
    for (Entry& entry : entries) {
      entry.first_chunk = num_chunks_;
      num_chunks_ += (entry.n + kElementsPerChunk - 1) / kElementsPerChunk;
    }
    if (entries == entries_) return;
    entries_.clear();  // if the copy fails, nothing counts as sent
    const auto bytes = static_cast<int64_t>(entries.size() * sizeof(Entry));
    // Kernels in flight may still read the old table: cudaFree waits for them.
    if (!memory_ || memory_->bytes() < bytes) memory_.emplace(ctx.device, bytes);
    const Tensor table = memory_->place(0, DType::U8, {bytes});
    copy_from_host(ctx, entries.data(), table);
    on_device_ = static_cast<const Entry*>(table.data);
    entries_ = std::move(entries);
  }

  int64_t num_chunks() const { return num_chunks_; }
  const Entry* on_device() const { return on_device_; }
  int size() const { return static_cast<int>(entries_.size()); }

 private:
  std::vector<Entry> entries_;
  std::optional<Arena> memory_;
  const Entry* on_device_ = nullptr;
  int64_t num_chunks_ = 0;
};

// The entry that contains `chunk`: the last one that begins at or before it. An empty tensor begins
// where the next one does, so it is never the result.
template <class Entry>
__device__ const Entry& entry_of_chunk(const Entry* entries, int count, int64_t chunk) {
  int low = 0, high = count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (entries[middle].first_chunk <= chunk) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return entries[low];
}

}  // namespace ingot::cuda
