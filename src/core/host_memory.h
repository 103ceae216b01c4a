// Host memory that tensors are put away in, and fetched from, while the device goes on computing.
#pragma once

#include <cstdint>
#include <memory>

#include "core/context.h"
#include "core/tensor.h"

namespace ingot {

// Copies are done in the order they are asked for. Each begins when all work issued through the
// context before it is done; work issued after it does not wait for it unless wait_for() says so.
class HostMemory {
 public:
  virtual ~HostMemory() = default;

  // `offset` in bytes from the start of the memory; tensors are contiguous.
  virtual void put(const Tensor& tensor, int64_t offset) = 0;
  virtual void fetch(int64_t offset, const Tensor& tensor) = 0;

  // Names all copies asked for so far.
  virtual int64_t ticket() = 0;
  // Work issued through the context from now on comes after the copies that `ticket` names.
  virtual void wait_for(int64_t ticket) = 0;
};

// On a GPU page-locked memory and a stream of its own; on the CPU copies are done when they return.
// The context must outlive it.
std::unique_ptr<HostMemory> make_host_memory(Context& ctx, int64_t bytes);

}  // namespace ingot
