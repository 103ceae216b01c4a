// The collective that a stream is in, visible to the host. Also works for recorded work, whose
// contents the host does not see.
#pragma once

#include <cstdint>
#include <optional>

#include "core/cuda/owners.h"
#include "core/device/context.h"

namespace ingot {

// One-thread kernels write it before and after every collective of a stream; any host thread reads
// it. Its memory must outlive the work on the stream and graphs of it.
class NcclTurns {
 public:
  NcclTurns();

  // Put it on the stream of `ctx` at the beginning and at the end of a collective.
  void put(Context& ctx, int64_t call);

  struct Inside {
    int64_t call = 0;   // the argument of put()
    uint64_t turn = 0;  // differs each time
  };
  // The collective that the stream is in, if any.
  std::optional<Inside> inside() const;

  // Leaks the memory: kernels that can no longer be waited for may still write it.
  void leak() { (void)memory_.release(); }

 private:
  PinnedMemory memory_;
};

}  // namespace ingot
