#include "ops/memory.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace ingot {
namespace {

// Large enough that a task outweighs its dispatch, small enough that two cores share 1 MB.
constexpr int64_t kBytesPerTask = 256 * 1024;

void check_host_memory(const Tensor& tensor) {
  check(tensor.device.kind == DeviceKind::Cpu, ErrorCode::Missing,
        "memory ops: this build has no backend for {}", tensor.device);
}

template <class Body>
void for_byte_ranges(Context& ctx, int64_t bytes, const Body& body) {
  const int64_t tasks = (bytes + kBytesPerTask - 1) / kBytesPerTask;
  ctx.pool->run(tasks, [&](int64_t task, int) {
    const int64_t begin = task * kBytesPerTask;
    body(begin, std::min(kBytesPerTask, bytes - begin));
  });
}

}  // namespace

void zero(Context& ctx, const Tensor& tensor) {
  check_host_memory(tensor);
  check(tensor.is_contiguous(), ErrorCode::Internal, "zero: expected a contiguous tensor, got {}",
        tensor);
  auto* bytes = static_cast<std::byte*>(tensor.data);
  for_byte_ranges(ctx, tensor.bytes(), [&](int64_t begin, int64_t size) {
    std::memset(bytes + begin, 0, static_cast<size_t>(size));
  });
}

void copy_from_host(Context& ctx, const void* host, const Tensor& dst) {
  check_host_memory(dst);
  check(dst.is_contiguous(), ErrorCode::Internal,
        "copy_from_host: expected a contiguous tensor, got {}", dst);
  const auto* from = static_cast<const std::byte*>(host);
  auto* to = static_cast<std::byte*>(dst.data);
  for_byte_ranges(ctx, dst.bytes(), [&](int64_t begin, int64_t size) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(size));
  });
}

void copy(Context& ctx, const Tensor& src, const Tensor& dst) {
  check_host_memory(src);
  check_host_memory(dst);
  check(src.shape == dst.shape && src.dtype == dst.dtype, ErrorCode::Internal,
        "copy: expected equal shapes and dtypes, got {} and {}", src, dst);
  check(src.strides[-1] == 1 && dst.strides[-1] == 1, ErrorCode::Internal,
        "copy: expected a contiguous last dim, got {} and {}", src, dst);
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
