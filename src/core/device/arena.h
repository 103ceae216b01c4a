// Memory allocated once, before the first step, and handed out by offset.
#pragma once

#include <cstdint>
#include <memory>

#include "core/tensor/device.h"
#include "core/tensor/tensor.h"

namespace ingot {

inline constexpr int64_t kArenaAlignment = 256;  // bytes; a cache line multiple on every device

inline int64_t align_up(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// Where memory lies: on the device, in page-locked host memory (the device copies to and from it
// asynchronously), or in pageable host memory. On the CPU all three are the same.
enum class MemorySpace { Device, Pinned, Host };

// Owns one block of memory, zeroed at creation. Tensors placed in it must not outlive it. In
// MemorySpace::Device they are on the arena's device, otherwise on the CPU.
class Arena {
 public:
  // Throws ErrorCode::Memory with the bytes requested and the bytes free.
  Arena(Device device, int64_t bytes, MemorySpace space = MemorySpace::Device);
  ~Arena();
  Arena(Arena&&) noexcept;
  Arena& operator=(Arena&&) noexcept;

  int64_t bytes() const { return bytes_; }                       // exactly what was asked for
  Tensor place(int64_t offset, DType dtype, Shape shape) const;  // throws when it would not fit

 private:
  Device device_;  // of its tensors
  bool pinned_ = false;
  int64_t bytes_ = 0;
  void* data_ = nullptr;
};

// Scratch memory for the duration of one op: a bump allocator over a tensor of the table. Ops
// publish their need through x_workspace_bytes(); taking more throws.
class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(Tensor memory) : memory_(memory) {}  // U8, any length

  // Everything taken while a Scope lives is released when it ends.
  class Scope {
   public:
    explicit Scope(Workspace& workspace) : workspace_(workspace), mark_(workspace.used_) {}
    ~Scope() { workspace_.used_ = mark_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Workspace& workspace_;
    int64_t mark_;
  };

  Tensor take(DType dtype, Shape shape);  // contents undefined; aligned to kArenaAlignment
  int64_t bytes() const { return memory_.defined() ? memory_.bytes() : 0; }

 private:
  Tensor memory_;
  int64_t used_ = 0;
};

}  // namespace ingot
