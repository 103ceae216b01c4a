// Copies between device and host memory while the device goes on computing.
#pragma once

#include <cstdint>
#include <memory>

#include "core/context.h"
#include "core/tensor.h"

namespace ingot {

// Copies are done in the order they are asked for. Each begins when all work issued through the
// context before it is done; work issued after it does not wait for it unless wait_for() says so.
class HostCopies {
 public:
  virtual ~HostCopies() = default;

  // Contiguous tensors of as many bytes, one of the device and one in MemorySpace::Pinned.
  virtual void copy(const Tensor& from, const Tensor& to) = 0;

  // Names all copies asked for so far.
  virtual int64_t ticket() = 0;
  // Work issued through the context from now on comes after the copies that `ticket` names.
  virtual void wait_for(int64_t ticket) = 0;
};

// On a GPU a stream of its own; on the CPU copies are done when they return. The context must
// outlive it.
std::unique_ptr<HostCopies> make_host_copies(Context& ctx);

}  // namespace ingot
