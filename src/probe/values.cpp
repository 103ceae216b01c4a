#include "probe/values.h"

#include <cstddef>

#include "core/error/error.h"
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

// Calls f with a pointer to the first element.
template <class F>
void with_elements(const Tensor& tensor, const F& f) {
  switch (tensor.dtype) {
    case DType::F64:
      return f(tensor.as<double>());
    case DType::F32:
      return f(tensor.as<float>());
    case DType::BF16:
      return f(tensor.as<Bf16>());
    case DType::F8E4M3:
      return f(tensor.as<F8E4M3>());
    case DType::F8E5M2:
      return f(tensor.as<F8E5M2>());
    case DType::I32:
      return f(tensor.as<int32_t>());
    case DType::U16:
      return f(tensor.as<uint16_t>());
    default:
      throw Error(ErrorCode::Internal, fmt::format("expected floats, i32 or u16, got {}", tensor));
  }
}

}  // namespace

std::vector<double> read_values(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.numel()));
  with_elements(tensor, [&](const auto* from) {
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (requires { from->to_float(); }) {
        values[i] = from[i].to_float();
      } else {
        values[i] = static_cast<double>(from[i]);
      }
    }
  });
  return values;
}

void write_values(const Tensor& tensor, std::span<const double> values) {
  check(static_cast<size_t>(tensor.numel()) == values.size(), ErrorCode::Internal,
        "expected {} values for {}, got {}", tensor.numel(), tensor.str(), values.size());
  with_elements(tensor, [&]<class T>(T* to) {
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (requires { to->to_float(); }) {
        to[i] = T::from_float(static_cast<float>(values[i]));
      } else {
        to[i] = static_cast<T>(values[i]);
      }
    }
  });
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
