// Checks shared by all ops, with one wording.
#pragma once

#include <string_view>

#include "core/error/error.h"
#include "core/tensor/tensor.h"

namespace ingot {

inline void check_shape(std::string_view op, std::string_view name, const Tensor& tensor,
                        const Shape& shape) {
  check(tensor.shape == shape, ErrorCode::Internal, "{}: {} must be {}, got {}", op, name, shape,
        tensor);
}

inline void check_rank(std::string_view op, std::string_view name, const Tensor& tensor, int rank) {
  check(tensor.shape.rank() == rank, ErrorCode::Internal, "{}: {} must have {} dims, got {}", op,
        name, rank, tensor);
}

inline void check_dtype(std::string_view op, std::string_view name, const Tensor& tensor,
                        DType dtype) {
  check(tensor.dtype == dtype, ErrorCode::Internal, "{}: {} must be {}, got {}", op, name,
        name_of(dtype), tensor);
}

inline void check_contiguous(std::string_view op, std::string_view name, const Tensor& tensor) {
  check(tensor.is_contiguous(), ErrorCode::Internal, "{}: {} must be contiguous, got {}", op, name,
        tensor);
}

// Requirements of all kernels on a float operand: F64, F32, BF16 or, on a GPU, F16, with a
// contiguous last dim.
inline void check_float(std::string_view op, std::string_view name, const Tensor& tensor) {
  const DType t = tensor.dtype;
  const bool on_gpu = tensor.device.kind == DeviceKind::Cuda;
  check(t == DType::F64 || t == DType::F32 || t == DType::BF16 || (t == DType::F16 && on_gpu),
        ErrorCode::Internal, "{}: {} must be f64, f32, bf16 or, on a GPU, f16, got {}", op, name,
        tensor);
  check(tensor.shape.rank() > 0 && (tensor.shape[-1] <= 1 || tensor.strides[-1] == 1),
        ErrorCode::Internal, "{}: the last dim of {} must be contiguous, got {}", op, name, tensor);
}

// A float operand whose shape and dtype follow from the other operands.
inline void check_operand(std::string_view op, std::string_view name, const Tensor& tensor,
                          const Shape& shape, DType dtype) {
  check_float(op, name, tensor);
  check_dtype(op, name, tensor, dtype);
  check_shape(op, name, tensor, shape);
  check_contiguous(op, name, tensor);
}

}  // namespace ingot
