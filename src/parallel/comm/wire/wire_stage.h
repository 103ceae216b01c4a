// Host memory through which tensors pass on their way to other ranks.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/async/stream_event.h"
#include "core/device/arena.h"
#include "core/device/context.h"

namespace ingot {

// On the CPU tensors are host memory, and only what is reduced needs room. On a GPU bytes are
// copied to and from page-locked memory on the stream of the lane. Two halves take turns, so that
// the copies back of one round go on while the next is exchanged. One thread.
class WireStage {
 public:
  // `pieces`: what one round may hold of chunk_bytes() each.
  WireStage(Device device, int64_t pieces, int64_t chunk_bytes)
      : device_(device), half_bytes_(pieces * align_up(chunk_bytes)), chunk_bytes_(chunk_bytes) {}

  int64_t chunk_bytes() const { return chunk_bytes_; }

  // A new round: what the one before the last held is no more.
  void turn();
  // The bytes at `tensor`; those of a GPU may be read after ready().
  std::span<const std::byte> from(Context& ctx, const void* tensor, int64_t bytes);
  // Memory that becomes the bytes at `tensor` with land().
  std::span<std::byte> into(void* tensor, int64_t bytes);
  std::span<std::byte> room(int64_t bytes);
  void ready(Context& ctx);
  void land(Context& ctx);

 private:
  struct Landing {
    void* tensor;
    std::span<std::byte> bytes;
  };
  struct Half {
    int64_t used = 0;
    std::shared_ptr<StreamEvent> free;  // when nothing reads it any more
  };

  const Device device_;
  const int64_t half_bytes_, chunk_bytes_;
  std::optional<Arena> memory_;  // taken when it is first needed
  std::array<Half, 2> halves_;
  size_t turn_ = 0;
  std::vector<Landing> landings_;
};

}  // namespace ingot
