// Shared by kernels besides vectors: fixed chunks for threads, and dispatch by dtype.
#pragma once

#include <cstdint>

#include "core/device/context.h"
#include "core/error/error.h"
#include "core/tensor/tensor.h"
#include "core/tensor/visit_dtype.h"

namespace ingot::cpu {

// Elements per task of a pointwise kernel: 64 KiB of F32. That is some µs of work against well
// under 1 µs of dispatch, and small enough for two cores to split a megabyte evenly.
inline constexpr int64_t kElementsPerTask = 16 * 1024;

// Calls f(begin, end) for consecutive chunks of [0, n). The chunks depend only on n, never on the
// number of threads: what f computes per chunk is the same on every machine.
template <class F>
void for_chunks(Context& ctx, int64_t n, int64_t chunk, const F& f) {
  ctx.pool->run((n + chunk - 1) / chunk, [&](int64_t task, int) {
    const int64_t begin = task * chunk;
    f(begin, begin + chunk < n ? begin + chunk : n);
  });
}

// Rows of `width` elements per task.
inline int64_t rows_per_task(int64_t width) {
  return width >= kElementsPerTask ? 1 : kElementsPerTask / (width > 0 ? width : 1);
}

// Calls f(T{}) with the element type of `dtype`, which is one of kDTypes.
template <DType... kDTypes, class F>
void with_type(DType dtype, const F& f) {
  const bool known = visit_dtype<kDTypes...>(dtype, f);
  check(known, ErrorCode::Internal, "no kernel for elements of type {}", name_of(dtype));
}

// Of a float dtype the kernels compute on.
template <class F>
void with_float_type(DType dtype, const F& f) {
  with_type<DType::F64, DType::F32, DType::BF16>(dtype, f);
}

}  // namespace ingot::cpu
