#include "probe/values.h"

#include <cstddef>
#include <type_traits>

#include "core/error.h"
#include "ops/memory.h"

namespace ingot {
namespace {

// Host memory of a tensor's size, and a view of it.
struct HostCopy {
  explicit HostCopy(const Tensor& of)
      : bytes(static_cast<size_t>(of.bytes())),
        tensor(Tensor::contiguous(bytes.data(), of.dtype, of.shape)) {}
  std::vector<std::byte> bytes;
  Tensor tensor;
};

}  // namespace

std::vector<double> read_values(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.numel()));
  auto read = [&]<class T>(const T* from) {
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, Bf16>) {
        values[i] = from[i].to_float();
      } else {
        values[i] = static_cast<double>(from[i]);
      }
    }
  };
  switch (tensor.dtype) {
    case DType::F64:
      read(tensor.as<double>());
      break;
    case DType::BF16:
      read(tensor.as<Bf16>());
      break;
    case DType::I32:
      read(tensor.as<int32_t>());
      break;
    default:
      read(tensor.as<float>());
  }
  return values;
}

void write_values(const Tensor& tensor, std::span<const double> values) {
  check(static_cast<size_t>(tensor.numel()) == values.size(), ErrorCode::Internal,
        "expected {} values for {}, got {}", tensor.numel(), tensor.str(), values.size());
  auto write = [&]<class T>(T* to) {
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, Bf16>) {
        to[i] = Bf16::from_float(static_cast<float>(values[i]));
      } else {
        to[i] = static_cast<T>(values[i]);
      }
    }
  };
  switch (tensor.dtype) {
    case DType::F64:
      return write(tensor.as<double>());
    case DType::BF16:
      return write(tensor.as<Bf16>());
    case DType::I32:
      return write(tensor.as<int32_t>());
    default:
      return write(tensor.as<float>());
  }
}

std::vector<double> read_values(Context& ctx, const Tensor& tensor) {
  const HostCopy host(tensor);
  copy_to_host(ctx, tensor, host.tensor.data);
  return read_values(host.tensor);
}

void write_values(Context& ctx, const Tensor& tensor, std::span<const double> values) {
  const HostCopy host(tensor);
  write_values(host.tensor, values);
  copy_from_host(ctx, host.tensor.data, tensor);
}

}  // namespace ingot
