#include "core/host_memory.h"

#include <cstring>

#include "core/cuda_backend.h"

namespace ingot {
namespace {

std::shared_ptr<std::byte> allocate(const Context& ctx, int64_t bytes) {
  if (ctx.cuda != nullptr) return allocate_pinned_memory(bytes);
  return std::shared_ptr<std::byte>(new std::byte[static_cast<size_t>(bytes)],
                                    std::default_delete<std::byte[]>());
}

}  // namespace

HostMemory::HostMemory(Context& ctx, int64_t bytes)
    : memory_(allocate(ctx, bytes)),
      compute_(compute_lane(ctx)),
      copies_(ctx.cuda != nullptr ? side_lane(ctx, {.threads = 0}) : compute_lane(ctx)) {}

void HostMemory::put(const Tensor& tensor, int64_t offset) {
  copy(memory_.get() + offset, tensor.data, tensor.bytes());
}

void HostMemory::fetch(int64_t offset, const Tensor& tensor) {
  copy(tensor.data, memory_.get() + offset, tensor.bytes());
}

Ticket HostMemory::copied() {
  return copies_->mark("copies of host memory");
}

void HostMemory::copy(void* to, const void* from, int64_t bytes) {
  copies_->after(compute_->mark("computed"));
  copies_->issue([=](Context& ctx) {
    if (ctx.cuda != nullptr)
      copy_bytes(*ctx.cuda, to, from, bytes);
    else
      std::memcpy(to, from, static_cast<size_t>(bytes));
  });
}

}  // namespace ingot
