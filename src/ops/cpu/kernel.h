// What kernels share besides vectors: fixed chunks for threads, and the element type by dtype.
#pragma once

#include <cstdint>

#include "core/device/context.h"
#include "core/error/error.h"
#include "core/tensor/tensor.h"

namespace ingot::cpu {

// Elements a task of a pointwise kernel handles: 64 KiB of F32, some µs of work against well under
// one of dispatch, and fine enough that two cores share a megabyte evenly.
inline constexpr int64_t kElementsPerTask = 16 * 1024;

// Calls f(begin, end) for consecutive chunks of [0, n). The chunks depend on n alone, never on the
// number of threads, so whatever f computes per chunk is the same on any machine.
template <class F>
void for_chunks(Context& ctx, int64_t n, int64_t chunk, const F& f) {
  ctx.pool->run((n + chunk - 1) / chunk, [&](int64_t task, int) {
    const int64_t begin = task * chunk;
    f(begin, begin + chunk < n ? begin + chunk : n);
  });
}

// Rows of `width` elements that make up a task.
inline int64_t rows_per_task(int64_t width) {
  return width >= kElementsPerTask ? 1 : kElementsPerTask / (width > 0 ? width : 1);
}

// Calls f(T{}) with the element type of a float dtype the kernels compute on.
template <class F>
void with_float_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::F64:
      return f(double{});
    case DType::F32:
      return f(float{});
    case DType::BF16:
      return f(Bf16{});
    default:
      throw Error(ErrorCode::Internal,
                  fmt::format("no kernel for elements of type {}", name_of(dtype)));
  }
}

}  // namespace ingot::cpu
