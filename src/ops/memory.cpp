#include "ops/memory.h"

#include <algorithm>
#include <cstring>

#include "core/device/cuda_backend.h"
#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/memory.h"

namespace ingot {
namespace {

// Large enough that a task outweighs its dispatch, small enough that two cores share 1 MB.
constexpr int64_t kBytesPerTask = 256 * 1024;

template <class Body>
void for_byte_ranges(Context& ctx, int64_t bytes, const Body& body) {
  const int64_t tasks = (bytes + kBytesPerTask - 1) / kBytesPerTask;
  ctx.pool->run(tasks, [&](int64_t task, int) {
    const int64_t begin = task * kBytesPerTask;
    body(begin, std::min(kBytesPerTask, bytes - begin));
  });
}

void copy_bytes(Context& ctx, const void* from, void* to, int64_t bytes) {
  for_byte_ranges(ctx, bytes, [&](int64_t begin, int64_t size) {
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
                static_cast<size_t>(size));
  });
}

}  // namespace

void zero(Context& ctx, const Tensor& tensor) {
  check_contiguous("zero", "tensor", tensor);
  if (runs_on_cuda(ctx, tensor)) return cuda::zero(ctx, tensor);
  auto* bytes = static_cast<std::byte*>(tensor.data);
  for_byte_ranges(ctx, tensor.bytes(), [&](int64_t begin, int64_t size) {
    std::memset(bytes + begin, 0, static_cast<size_t>(size));
  });
}

void copy_from_host(Context& ctx, const void* host, const Tensor& dst) {
  check_contiguous("copy_from_host", "dst", dst);
  if (runs_on_cuda(ctx, dst)) return cuda::copy_from_host(ctx, host, dst);
  copy_bytes(ctx, host, dst.data, dst.bytes());
}

void copy_to_host(Context& ctx, const Tensor& src, void* host) {
  check_contiguous("copy_to_host", "src", src);
  if (runs_on_cuda(ctx, src)) return cuda::copy_to_host(ctx, src, host);
  copy_bytes(ctx, src.data, host, src.bytes());
}

void fill(Context& ctx, float value, const Tensor& tensor) {
  const bool on_gpu = runs_on_cuda(ctx, tensor);
  check_dtype("fill", "tensor", tensor, on_gpu ? DType::F32 : accumulation_dtype(tensor.dtype));
  check_contiguous("fill", "tensor", tensor);
  if (on_gpu) return cuda::fill(ctx, value, tensor);
  const auto fill_with = [&]<class T>(T element) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    for_byte_ranges(ctx, tensor.bytes(), [&](int64_t begin, int64_t size) {
      std::fill_n(tensor.as<T>() + begin / kSize, size / kSize, element);
    });
  };
  if (tensor.dtype == DType::F64) return fill_with(static_cast<double>(value));
  fill_with(value);
}

void add(Context& ctx, const Tensor& src, const Tensor& dst) {
  check(src.numel() == dst.numel() && src.dtype == dst.dtype && src.device == dst.device &&
            (src.dtype == DType::F32 || src.dtype == DType::F64),
        ErrorCode::Internal,
        "add: expected as many elements, f32 or f64, on one device, got {} and {}", src, dst);
  check_contiguous("add", "src", src);
  check_contiguous("add", "dst", dst);
  if (runs_on_cuda(ctx, dst)) return cuda::add(ctx, src, dst);
  const auto sum = [&](auto* to, const auto* from) {
    const auto size = static_cast<int64_t>(sizeof(*to));
    for_byte_ranges(ctx, dst.bytes(), [&](int64_t begin, int64_t bytes) {
      for (int64_t i = begin / size; i < (begin + bytes) / size; ++i) to[i] += from[i];
    });
  };
  if (dst.dtype == DType::F32) return sum(dst.as<float>(), src.as<float>());
  sum(dst.as<double>(), src.as<double>());
}

void transfer(Context& ctx, const Tensor& from, const Tensor& to) {
  check(from.bytes() == to.bytes(), ErrorCode::Internal,
        "transfer: expected as many bytes, got {} and {}", from, to);
  check_contiguous("transfer", "from", from);
  check_contiguous("transfer", "to", to);
  if (ctx.cuda != nullptr) return copy_bytes(*ctx.cuda, to.data, from.data, from.bytes());
  if (from.bytes() > 0) std::memcpy(to.data, from.data, static_cast<size_t>(from.bytes()));
}

void copy(Context& ctx, const Tensor& src, const Tensor& dst) {
  check(src.shape == dst.shape && src.dtype == dst.dtype && src.device == dst.device,
        ErrorCode::Internal, "copy: expected equal shapes, dtypes and devices, got {} and {}", src,
        dst);
  check(src.strides[-1] == 1 && dst.strides[-1] == 1, ErrorCode::Internal,
        "copy: expected a contiguous last dim, got {} and {}", src, dst);
  if (runs_on_cuda(ctx, src)) return cuda::copy(ctx, src, dst);
  const int64_t width = src.shape[-1];
  if (src.numel() == 0) return;
  const int64_t rows = src.numel() / width;
  const int64_t size = size_of(src.dtype);
  auto row_offset = [](const Tensor& t, int64_t row) {
    int64_t offset = 0;
    for (int dim = t.shape.rank() - 2; dim >= 0; --dim) {
      offset += row % t.shape[dim] * t.strides[dim];
      row /= t.shape[dim];
    }
    return offset;
  };
  const int64_t rows_per_task = std::max<int64_t>(1, kBytesPerTask / (width * size));
  ctx.pool->run((rows + rows_per_task - 1) / rows_per_task, [&](int64_t task, int) {
    const int64_t end = std::min(rows, (task + 1) * rows_per_task);
    for (int64_t row = task * rows_per_task; row < end; ++row)
      std::memcpy(static_cast<std::byte*>(dst.data) + row_offset(dst, row) * size,
                  static_cast<const std::byte*>(src.data) + row_offset(src, row) * size,
                  static_cast<size_t>(width * size));
  });
}

}  // namespace ingot
