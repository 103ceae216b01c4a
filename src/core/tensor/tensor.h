// A typed, strided view of memory owned elsewhere (an arena, a mapped file, a test).
#pragma once

#include <cstdint>
#include <string>

#include "core/tensor/device.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace ingot {

// Maps a C++ element type to its DType: dtype_of<float>() == DType::F32.
template <class T>
constexpr DType dtype_of();

struct Tensor {
  void* data = nullptr;
  DType dtype = DType::F32;
  Device device;
  Shape shape;
  Shape strides;  // in elements, same rank as shape

  // Row-major contiguous view of `data`, which must outlive it.
  static Tensor contiguous(void* data, DType dtype, Shape shape, Device device = Device::cpu());

  bool defined() const { return data != nullptr; }
  int64_t numel() const { return shape.numel(); }
  int64_t bytes() const { return numel() * size_of(dtype); }
  bool is_contiguous() const;

  // The data as T*; throws Error if T is not the element type.
  template <class T>
  T* as() const;

  // The same contiguous elements with another shape. Throws if numel differs or the tensor is not
  // contiguous.
  Tensor reshape(Shape new_shape) const;
  // Elements [begin, end) of `dim`; the strides do not change.
  Tensor slice(int dim, int64_t begin, int64_t end) const;
  // Splits `dim` of extent a·b into (a, b); works on strided views. Splits packed QKV rows (N,
  // (H+2G)·D) into heads without a copy.
  Tensor split(int dim, int64_t a, int64_t b) const;

  std::string str() const;  // "f32 (2, 512, 256) on cpu"
};

template <>
constexpr DType dtype_of<double>() {
  return DType::F64;
}
template <>
constexpr DType dtype_of<float>() {
  return DType::F32;
}
template <>
constexpr DType dtype_of<Bf16>() {
  return DType::BF16;
}
template <>
constexpr DType dtype_of<F16>() {
  return DType::F16;
}
template <>
constexpr DType dtype_of<F8E4M3>() {
  return DType::F8E4M3;
}
template <>
constexpr DType dtype_of<F8E5M2>() {
  return DType::F8E5M2;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::I64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::I32;
}
template <>
constexpr DType dtype_of<uint32_t>() {
  return DType::U32;
}
template <>
constexpr DType dtype_of<uint16_t>() {
  return DType::U16;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::U8;
}

[[noreturn]] void throw_wrong_dtype(const Tensor& tensor, DType wanted);

template <class T>
T* Tensor::as() const {
  if (dtype != dtype_of<T>()) throw_wrong_dtype(*this, dtype_of<T>());
  return static_cast<T*>(data);
}

}  // namespace ingot
