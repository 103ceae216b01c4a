// Ranks that share a GPU: its streams see all of their memory.
#include <algorithm>
#include <type_traits>

#include "ops/cuda/common/device.cuh"
#include "parallel/comm/local/local_group.h"

namespace ingot {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = 512;  // enough to fill a GPU; ranks run beside each other

template <class T>
struct Buffers {
  T* of[kMaxGpuMembers];
  int count = 0;
};

// As on the CPU: small floats are added up in float and rounded once, integers in 64 bits.
template <class T>
using Total = std::conditional_t<std::is_integral_v<T>, int64_t, cuda::Compute<T>>;

// out(n) of every one ← in(n), reduced in the order of members. An `in` may be an `out`: a thread
// reads its element of all before it writes it.
template <class T, bool kSum>
__global__ void reduce_kernel(Buffers<const T> in, Buffers<T> out, int64_t n) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    auto total = static_cast<Total<T>>(in.of[0][i]);
    for (int member = 1; member < in.count; ++member) {
      const auto next = static_cast<Total<T>>(in.of[member][i]);
      if constexpr (kSum)
        total += next;
      else
        total = total < next ? next : total;
    }
    for (int member = 0; member < out.count; ++member) out.of[member][i] = static_cast<T>(total);
  }
}

template <class T>
void reduce(Context& ctx, int member, const std::vector<Offer>& offers) {
  const CollectiveCall& call = offers[static_cast<size_t>(member)].call;
  // Each reduces its part for itself, or its slice for all.
  const bool scatters = call.kind == Collective::ReduceScatter;
  const int64_t part = call.out.numel();
  const MemberSlice slice = scatters ? MemberSlice{member * part, (member + 1) * part}
                                     : member_slice(part, offers.size(), member);
  Buffers<const T> in;
  Buffers<T> out;
  for (const Offer& offer : offers) {
    in.of[in.count++] = static_cast<const T*>(offer.call.in.data) + slice.begin;
    if (!scatters) out.of[out.count++] = static_cast<T*>(offer.call.out.data) + slice.begin;
  }
  if (scatters) out.of[out.count++] = static_cast<T*>(call.out.data);
  const int64_t n = slice.end - slice.begin;
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(blocks_for(n, kThreads), kMaxBlocks));
  if (call.reduce == Reduce::Sum)
    launch({ctx, blocks, kThreads}, reduce_kernel<T, true>, in, out, n);
  else
    launch({ctx, blocks, kThreads}, reduce_kernel<T, false>, in, out, n);
}

void reduce(Context& ctx, int member, const std::vector<Offer>& offers) {
  const auto as = [&](auto zero) { reduce<decltype(zero)>(ctx, member, offers); };
  const bool known =
      visit_dtype_as<cuda::DeviceElementOf, DType::F64, DType::F32, DType::BF16, DType::F16,
                     DType::I64, DType::I32, DType::U32, DType::U16, DType::U8>(
          offers[0].call.in.dtype, as);
  check(known, ErrorCode::Internal, "collective: 8-bit floats are not reduced");
}

void copy_bytes(Context& ctx, const Tensor& from, void* to) {
  if (from.numel() > 0 && from.data != to)
    cuda_check(cudaMemcpyAsync(to, from.data, static_cast<size_t>(from.bytes()),
                               cudaMemcpyDeviceToDevice, stream_of(ctx)));
}

}  // namespace

void exchange_on_gpu(Context& ctx, int member, const std::vector<Offer>& offers) {
  const CollectiveCall& call = offers[static_cast<size_t>(member)].call;
  switch (call.kind) {
    case Collective::AllReduce:
    case Collective::ReduceScatter:
      return reduce(ctx, member, offers);
    case Collective::AllGather: {
      auto* to = static_cast<std::byte*>(call.out.data);
      for (const Offer& offer : offers) {
        copy_bytes(ctx, offer.call.in, to);
        to += call.in.bytes();
      }
      return;
    }
    case Collective::Broadcast:
      return copy_bytes(ctx, offers[static_cast<size_t>(call.peer)].call.in, call.out.data);
    case Collective::Send:
      return;
    case Collective::Recv:
      return copy_bytes(ctx, offers[0].call.in, call.out.data);
  }
}

}  // namespace ingot
