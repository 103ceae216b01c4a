// Memory taken once, before the first step, and handed out by offset.
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

// Where memory lies, seen from a device: in its own, in host memory that its copies reach while the
// host goes on (page-locked), in plain host memory. On the CPU all are alike.
enum class MemorySpace { Device, Pinned, Host };

// Owns one block of memory, zeroed at creation. Everything placed in it dies with it; its tensors
// are the device's or, in the other spaces, the CPU's.
class Arena {
 public:
  // Throws ErrorCode::Memory with what was asked and what is free.
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

// Scratch memory for the duration of one op: a bump pointer over a tensor the table planned.
// Ops publish what they need through x_workspace_bytes(); taking more throws.
class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(Tensor memory) : memory_(memory) {}  // U8, any length

  // Everything taken while a Scope lives is given back when it ends.
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
