// A context with two threads and scratch memory, and tensors over std::vector, for direct op calls.
#pragma once

#include <cstdint>
#include <vector>

#include "core/device/arena.h"
#include "core/device/context.h"
#include "core/device/thread_pool.h"

namespace ingot::test {

class Rig {
 public:
  explicit Rig(int64_t workspace_bytes = int64_t{1} << 20)
      : pool_(2), arena_(Device::cpu(), workspace_bytes) {
    ctx.pool = &pool_;
    ctx.workspace = Workspace(arena_.place(0, DType::U8, {workspace_bytes}));
  }

 private:
  ThreadPool pool_;
  Arena arena_;

 public:
  Context ctx;
};

// A view of the vector, which must outlive it and keep its size.
template <class T>
Tensor view(std::vector<T>& values, Shape shape) {
  return Tensor::contiguous(values.data(), dtype_of<T>(), shape);
}

}  // namespace ingot::test
