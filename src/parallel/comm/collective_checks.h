// What every communicator asks of its arguments, so that all backends refuse the same mistakes.
#pragma once

#include "core/error.h"
#include "core/tensor.h"

namespace ingot {

inline void check_collective(const Tensor& tensor) {
  check(tensor.device.kind == DeviceKind::Cpu, ErrorCode::Missing,
        "collective: expected host memory, got {}; this build has no other backend", tensor.str());
  check(tensor.is_contiguous(), ErrorCode::Internal,
        "collective: expected a contiguous tensor, got {}", tensor.str());
}

inline void check_summable(const Tensor& tensor) {
  check_collective(tensor);
  check(tensor.dtype == DType::F32 || tensor.dtype == DType::F64, ErrorCode::Internal,
        "collective: sums are taken in f32 or f64, got {}", tensor.str());
}

// whole is `ranks` parts long.
inline void check_parts(const Tensor& part, const Tensor& whole, int ranks) {
  check_collective(part);
  check_collective(whole);
  check(part.dtype == whole.dtype && whole.numel() == part.numel() * ranks, ErrorCode::Internal,
        "collective: expected {} parts of one dtype in the whole, got {} and {}", ranks, part.str(),
        whole.str());
}

inline void check_root(int root, int ranks) {
  check(root >= 0 && root < ranks, ErrorCode::Internal,
        "broadcast: expected a root in [0, {}), got {}", ranks, root);
}

}  // namespace ingot
