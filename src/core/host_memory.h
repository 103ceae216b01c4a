// Host memory that tensors are put away in, and fetched from, while the device goes on computing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/context.h"
#include "core/lane.h"
#include "core/tensor.h"

namespace ingot {

// Copies are done in the order they are asked for. Each begins when all work issued through the
// context before it is done; work issued after it does not wait for it unless wait_for() says so.
// On a GPU the memory is page-locked and copies go on a lane of their own; on the CPU a copy is
// done when it returns.
class HostMemory {
 public:
  HostMemory(Context& ctx, int64_t bytes);  // the context must outlive it

  // `offset` in bytes from the start of the memory; tensors are contiguous.
  void put(const Tensor& tensor, int64_t offset);
  void fetch(int64_t offset, const Tensor& tensor);

  Ticket copied();  // speaks of all copies asked for so far
  // Work issued through the context from now on comes after the ticket's.
  void wait_for(const Ticket& ticket) { compute_->after(ticket); }

 private:
  void copy(void* to, const void* from, int64_t bytes);

  std::shared_ptr<std::byte> memory_;
  std::unique_ptr<Lane> compute_;
  std::unique_ptr<Lane> copies_;  // the first to go: it waits for what it copies
};

}  // namespace ingot
