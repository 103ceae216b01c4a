// CPU reductions in rank order, so that sums are equal from run to run.
#pragma once

#include <cstdint>
#include <span>

#include "core/tensor/dtype.h"
#include "parallel/comm/communicator.h"

namespace ingot {

// Every out(n) ← reduction of in(n) in the order of `in`. An `in` may be an `out`. 16-bit floats
// accumulate in float and are rounded once; integers accumulate in 64 bits.
void reduce_in_order(DType dtype, Reduce reduce, std::span<const void* const> in, int64_t n,
                     std::span<void* const> out);

// The part of n elements that a member reduces for all.
struct MemberSlice {
  int64_t begin = 0, end = 0;
};
inline MemberSlice member_slice(int64_t n, size_t members, int member) {
  const auto count = static_cast<int64_t>(members);
  return {n * member / count, n * (member + 1) / count};
}

}  // namespace ingot
