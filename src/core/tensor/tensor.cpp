#include "core/tensor/tensor.h"

#include "core/error/error.h"

namespace ingot {
namespace {

Shape row_major_strides(const Shape& shape) {
  Shape strides = shape;
  int64_t stride = 1;
  for (int dim = shape.rank() - 1; dim >= 0; --dim) {
    strides.set(dim, stride);
    stride *= shape[dim];
  }
  return strides;
}

int checked_dim(const Tensor& tensor, int dim) {
  const int rank = tensor.shape.rank();
  check(dim >= -rank && dim < rank, ErrorCode::Internal, "dim {} does not exist in {}", dim,
        tensor);
  return dim < 0 ? rank + dim : dim;
}

}  // namespace

Tensor Tensor::contiguous(void* data, DType dtype, Shape shape, Device device) {
  return {data, dtype, device, shape, row_major_strides(shape)};
}

bool Tensor::is_contiguous() const {
  int64_t expected = 1;
  for (int dim = shape.rank() - 1; dim >= 0; --dim) {
    // A dim of one element is never stepped along, so its stride does not matter.
    if (shape[dim] != 1 && strides[dim] != expected) return numel() == 0;
    expected *= shape[dim];
  }
  return true;
}

Tensor Tensor::reshape(Shape new_shape) const {
  check(is_contiguous(), ErrorCode::Internal, "reshape of {} to {}: expected a contiguous tensor",
        str(), new_shape);
  check(new_shape.numel() == numel(), ErrorCode::Internal,
        "reshape of {} to {}: expected {} elements, got {}", str(), new_shape, numel(),
        new_shape.numel());
  return contiguous(data, dtype, new_shape, device);
}

Tensor Tensor::slice(int dim, int64_t begin, int64_t end) const {
  const int d = checked_dim(*this, dim);
  check(0 <= begin && begin <= end && end <= shape[d], ErrorCode::Internal,
        "slice [{}, {}) of dim {} does not lie in {}", begin, end, d, str());
  Tensor part = *this;
  part.shape.set(d, end - begin);
  part.data = static_cast<char*>(data) + begin * strides[d] * size_of(dtype);
  return part;
}

Tensor Tensor::split(int dim, int64_t a, int64_t b) const {
  const int d = checked_dim(*this, dim);
  check(a >= 0 && b >= 0 && a * b == shape[d], ErrorCode::Internal,
        "split of dim {} of {} into ({}, {}): the product must be {}", d, str(), a, b, shape[d]);
  Tensor result = *this;
  result.shape = Shape{};
  result.strides = Shape{};
  for (int i = 0; i < shape.rank(); ++i) {
    result.shape.append(i == d ? a : shape[i]);
    result.strides.append(i == d ? b * strides[i] : strides[i]);
    if (i != d) continue;
    result.shape.append(b);
    result.strides.append(strides[i]);
  }
  return result;
}

std::string Tensor::str() const {
  return fmt::format("{} {} on {}", name_of(dtype), shape, device);
}

void throw_wrong_dtype(const Tensor& tensor, DType wanted) {
  throw Error(ErrorCode::Internal,
              fmt::format("wrong element type: expected {}, got {}", name_of(wanted), tensor));
}

}  // namespace ingot
