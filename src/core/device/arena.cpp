#include "core/device/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/device/cuda_backend.h"
#include "core/error/error.h"
#include "core/system/memory_info.h"

namespace ingot {
namespace {

size_t mapped_size(int64_t bytes) {
  return static_cast<size_t>(std::max<int64_t>(bytes, 1));  // mmap refuses 0
}

}  // namespace

Arena::Arena(Device device, int64_t bytes, MemorySpace space)
    : device_(space == MemorySpace::Device ? device : Device::cpu()),
      pinned_(device.kind == DeviceKind::Cuda && space == MemorySpace::Pinned),
      bytes_(bytes) {
  check(bytes >= 0, ErrorCode::Internal, "an arena of {} bytes was asked for", bytes);
  if (device_.kind == DeviceKind::Cuda) {
    data_ = allocate_cuda_memory(device.index, bytes);
    return;
  }
  // Linux hands out addresses it cannot back and kills the process later; refuse now instead.
  const int64_t available = available_memory_bytes();
  check(bytes <= available, ErrorCode::Memory,
        "not enough memory: expected {} bytes, {} are available; use a smaller model or batch, or "
        "recompute more",
        bytes, available);
  if (pinned_) {
    data_ = allocate_pinned_memory(bytes);
    return;
  }
  void* data =
      mmap(nullptr, mapped_size(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(data != MAP_FAILED, ErrorCode::Memory,
        "not enough memory: expected {} bytes, the system refused ({}); {} are available", bytes,
        std::strerror(errno), available);
  // Only advice: large pages save TLB misses, and a kernel without them is no error.
  madvise(data, mapped_size(bytes), MADV_HUGEPAGE);
  data_ = data;
}

Arena::~Arena() {
  if (data_ == nullptr) return;
  if (device_.kind == DeviceKind::Cuda) {
    free_cuda_memory(device_.index, data_);
  } else if (pinned_) {
    free_pinned_memory(data_);
  } else {
    munmap(data_, mapped_size(bytes_));
  }
}

Arena::Arena(Arena&& other) noexcept
    : device_(other.device_),
      pinned_(other.pinned_),
      bytes_(std::exchange(other.bytes_, 0)),
      data_(std::exchange(other.data_, nullptr)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(pinned_, other.pinned_);
  std::swap(bytes_, other.bytes_);
  std::swap(data_, other.data_);
  return *this;
}

Tensor Arena::place(int64_t offset, DType dtype, Shape shape) const {
  const Tensor tensor =
      Tensor::contiguous(static_cast<char*>(data_) + offset, dtype, shape, device_);
  check(offset >= 0 && tensor.bytes() <= bytes_ - offset, ErrorCode::Internal,
        "{} at offset {} does not fit an arena of {} bytes", tensor, offset, bytes_);
  check(offset % size_of(dtype) == 0, ErrorCode::Internal,
        "{} at offset {} is not aligned to its elements", tensor, offset);
  return tensor;
}

Tensor Workspace::take(DType dtype, Shape shape) {
  // Aligned by address, so that memory from anywhere serves; from an arena nothing is lost.
  const auto base = static_cast<int64_t>(reinterpret_cast<intptr_t>(memory_.data));
  const int64_t start = align_up(base + used_) - base;
  const Tensor tensor =
      Tensor::contiguous(static_cast<char*>(memory_.data) + start, dtype, shape, memory_.device);
  check(start + tensor.bytes() <= bytes(), ErrorCode::Internal,
        "workspace too small for {}: expected {} bytes, got {}; plan with x_workspace_bytes()",
        tensor, start + tensor.bytes(), bytes());
  used_ = start + tensor.bytes();
  return tensor;
}

}  // namespace ingot
