#include "ops/kernels/memory.h"

#include <algorithm>
#include <cstring>

#include "core/cuda/owners.h"
#include "ops/cuda/common/bytes.cuh"
#include "ops/cuda/common/device.cuh"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;

// Pinned memory that host data passes through on its way to the device, in slots used in turn: how
// far the host may run ahead of it, four micro-batches of up to four arrays of a slot each.
class Staging {
 public:
  static constexpr int64_t kSlotBytes = 1 << 20;
  static constexpr int kSlots = 16;

  explicit Staging(CudaContext&) {
    for (OwnedEvent& sent : sent_) sent = make_event();
  }

  // At most a slot; `host` may be reused when this returns.
  void send(cudaStream_t stream, const std::byte* host, std::byte* device, int64_t bytes) {
    const cudaEvent_t sent = sent_[next_].get();
    cuda_check(cudaEventSynchronize(sent));  // at once when the slot was never used
    std::byte* slot = static_cast<std::byte*>(memory_.get()) + next_ * kSlotBytes;
    const auto size = static_cast<size_t>(bytes);
    std::memcpy(slot, host, size);
    cuda_check(cudaMemcpyAsync(device, slot, size, cudaMemcpyHostToDevice, stream));
    cuda_check(cudaEventRecord(sent, stream));
    next_ = (next_ + 1) % kSlots;
  }

 private:
  PinnedMemory memory_ = allocate_pinned(kSlots * kSlotBytes);
  OwnedEvent sent_[kSlots];  // when a slot's last copy left it
  int next_ = 0;
};

__global__ void fill_kernel(float value, float* to, int64_t n, bool aligned) {
  const int64_t i = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * 4;
  if (aligned && i + 4 <= n) {
    store_vec_streaming(to + i, Vec<float>{{value, value, value, value}});
  } else {
    for (int64_t j = i; j < min(i + 4, n); ++j) to[j] = value;
  }
}

template <class T>
__global__ void add_kernel(const T* from, T* to, int64_t n) {
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += stride)
    to[i] += from[i];
}

// The dims before the last, those that one stride covers in both tensors merged. Bytes.
struct OuterDims {
  int rank = 0;
  int64_t extent[Shape::kMaxRank], from_stride[Shape::kMaxRank], to_stride[Shape::kMaxRank];
};

OuterDims outer_dims(const Tensor& src, const Tensor& dst) {
  const int64_t size = size_of(src.dtype);
  OuterDims dims;
  for (int dim = 0; dim < src.shape.rank() - 1; ++dim) {
    const int64_t extent = src.shape[dim];
    const int64_t from = src.strides[dim] * size, to = dst.strides[dim] * size;
    if (extent == 1) continue;  // never stepped along
    const int last = dims.rank - 1;
    if (last >= 0 && dims.from_stride[last] == extent * from &&
        dims.to_stride[last] == extent * to) {
      dims.extent[last] *= extent;
      dims.from_stride[last] = from;
      dims.to_stride[last] = to;
    } else {
      dims.extent[dims.rank] = extent;
      dims.from_stride[dims.rank] = from;
      dims.to_stride[dims.rank++] = to;
    }
  }
  return dims;
}

// Rows of `units` units each. The block's y takes rows and its x units; the grid's x and y
// likewise.
template <class Unit>
__global__ void copy_rows(const char* from, char* to, const __grid_constant__ OuterDims dims,
                          int64_t rows, int64_t units) {
  for (int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y; row < rows;
       row += int64_t{gridDim.x} * blockDim.y) {
    int64_t from_offset = 0, to_offset = 0, rest = row;
    for (int dim = dims.rank - 1; dim >= 0; --dim) {
      const int64_t index = dim > 0 ? rest % dims.extent[dim] : rest;
      if (dim > 0) rest /= dims.extent[dim];
      from_offset += index * dims.from_stride[dim];
      to_offset += index * dims.to_stride[dim];
    }
    const auto* source = reinterpret_cast<const Unit*>(from + from_offset);
    auto* target = reinterpret_cast<Unit*>(to + to_offset);
    for (int64_t i = int64_t{blockIdx.y} * blockDim.x + threadIdx.x; i < units;
         i += int64_t{gridDim.y} * blockDim.x)
      target[i] = source[i];
  }
}

}  // namespace

void zero(Context& ctx, const Tensor& tensor) {
  if (tensor.numel() == 0) return;
  cuda_check(cudaMemsetAsync(tensor.data, 0, static_cast<size_t>(tensor.bytes()), stream_of(ctx)));
}

void fill(Context& ctx, float value, const Tensor& tensor) {
  auto* to = tensor.as<float>();
  launch({ctx, blocks_for(tensor.numel(), 4 * kThreads), kThreads}, fill_kernel, value, to,
         tensor.numel(), fits_vec(to, 0));
}

void add(Context& ctx, const Tensor& src, const Tensor& dst) {
  if (src.numel() == 0) return;
  const auto blocks = std::min(blocks_for(src.numel(), 4 * kThreads), 1u << 16);
  if (src.dtype == DType::F32)
    launch({ctx, blocks, kThreads}, add_kernel<float>, src.as<float>(), dst.as<float>(),
           src.numel());
  else
    launch({ctx, blocks, kThreads}, add_kernel<double>, src.as<double>(), dst.as<double>(),
           src.numel());
}

void copy_from_host(Context& ctx, const void* host, const Tensor& dst) {
  Staging& staging = ctx.cuda->library<Staging>();
  const auto* from = static_cast<const std::byte*>(host);
  auto* to = static_cast<std::byte*>(dst.data);
  for (int64_t done = 0; done < dst.bytes(); done += Staging::kSlotBytes)
    staging.send(stream_of(ctx), from + done, to + done,
                 std::min(Staging::kSlotBytes, dst.bytes() - done));
}

void copy_to_host(Context& ctx, const Tensor& src, void* host) {
  if (src.numel() == 0) return;
  cuda_check(cudaMemcpyAsync(host, src.data, static_cast<size_t>(src.bytes()),
                             cudaMemcpyDeviceToHost, stream_of(ctx)));
  ctx.cuda->synchronize();
}

void copy(Context& ctx, const Tensor& src, const Tensor& dst) {
  if (src.numel() == 0) return;
  if (src.is_contiguous() && dst.is_contiguous()) {
    cuda_check(cudaMemcpyAsync(dst.data, src.data, static_cast<size_t>(src.bytes()),
                               cudaMemcpyDeviceToDevice, stream_of(ctx)));
    return;
  }
  const OuterDims dims = outer_dims(src, dst);
  const int64_t row_bytes = src.shape[-1] * size_of(src.dtype);
  uint64_t all = address_of(src.data) | address_of(dst.data) | static_cast<uint64_t>(row_bytes);
  for (int dim = 0; dim < dims.rank; ++dim)
    all |= static_cast<uint64_t>(dims.from_stride[dim] | dims.to_stride[dim]);
  with_unit(all, [&](auto unit) {
    using Unit = decltype(unit);
    const int64_t units = row_bytes / static_cast<int64_t>(sizeof(Unit));
    const int64_t rows = src.numel() / src.shape[-1];
    unsigned threads_x = 1;  // narrow rows share a block
    while (threads_x < kThreads && threads_x < units) threads_x *= 2;
    const unsigned threads_y = kThreads / threads_x;
    // Four units a thread; the grid's limits stay far away, the loops take what is left.
    const auto blocks_x = std::min(blocks_for(rows, threads_y), 1u << 20);
    const auto blocks_y = std::min(blocks_for(units, 4 * threads_x), 1024u);
    launch({ctx, dim3(blocks_x, blocks_y), dim3(threads_x, threads_y)}, copy_rows<Unit>,
           static_cast<const char*>(src.data), static_cast<char*>(dst.data), dims, rows, units);
  });
}

}  // namespace ingot::cuda
