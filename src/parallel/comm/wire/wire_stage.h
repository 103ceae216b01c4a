// Host memory that stages tensors on their way to other ranks.
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

// On the CPU tensors are host memory, and only reductions need staging. On a GPU bytes are copied
// to and from page-locked memory on the lane's stream. Two halves alternate, so that the copies
// back of one round overlap with the next exchange. For one thread.
class WireStage {
 public:
  // `pieces`: the maximum number of chunk_bytes() pieces per round.
  WireStage(Device device, int64_t pieces, int64_t chunk_bytes)
      : device_(device), half_bytes_(pieces * align_up(chunk_bytes)), chunk_bytes_(chunk_bytes) {}

  int64_t chunk_bytes() const { return chunk_bytes_; }

  // Begins a new round: the contents of the round before the last are discarded.
  void turn();
  // The bytes at `tensor`; those of a GPU may be read after ready().
  std::span<const std::byte> from(Context& ctx, const void* tensor, int64_t bytes);
  // Memory whose contents land() copies to `tensor`.
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
  std::optional<Arena> memory_;  // allocated on first use
  std::array<Half, 2> halves_;
  size_t turn_ = 0;
  std::vector<Landing> landings_;
};

}  // namespace ingot
