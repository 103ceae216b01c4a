// Where a stream is in its collectives, as the host can see it: also in recorded work, which the
// host starts without knowing what is in it.
#pragma once

#include <cstdint>
#include <optional>

#include "core/cuda/owners.h"
#include "core/device/context.h"

namespace ingot {

// Kernels of one thread write it, before and after every collective of a stream; any thread of the
// host reads it. Its memory must outlive what was put on the stream, and graphs of it.
class NcclTurns {
 public:
  NcclTurns();

  // On the stream of `ctx`, where a collective begins, and again where it ends.
  void put(Context& ctx, int64_t call);

  struct Inside {
    int64_t call = 0;   // as put() was told
    uint64_t turn = 0;  // another each time
  };
  // The collective that the stream is in.
  std::optional<Inside> inside() const;

  // Gives the memory up for good: kernels that nobody can wait for may still write it.
  void leak() { (void)memory_.release(); }

 private:
  PinnedMemory memory_;
};

}  // namespace ingot
