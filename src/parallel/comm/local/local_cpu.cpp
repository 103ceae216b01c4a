#include <cstring>

#include "core/error/error.h"
#include "parallel/comm/local/local_group.h"

namespace ingot {
namespace {

void reduce(int member, const std::vector<Offer>& offers) {
  const CollectiveCall& call = offers[static_cast<size_t>(member)].call;
  // Each reduces its part for itself, or its slice for all: n elements read and n written by each,
  // however many there are.
  const bool scatters = call.kind == Collective::ReduceScatter;
  const int64_t n = call.out.numel();
  const MemberSlice slice =
      scatters ? MemberSlice{member * n, (member + 1) * n} : member_slice(n, offers.size(), member);
  const int64_t skip = slice.begin * size_of(call.in.dtype);  // bytes
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Offer& offer : offers) {
    in.push_back(static_cast<const std::byte*>(offer.call.in.data) + skip);
    if (!scatters) out.push_back(static_cast<std::byte*>(offer.call.out.data) + skip);
  }
  if (scatters) out.push_back(call.out.data);
  reduce_in_order(call.in.dtype, call.reduce, in, slice.end - slice.begin, out);
}

void copy_bytes(const Tensor& from, void* to) {
  if (from.numel() > 0 && from.data != to)
    std::memcpy(to, from.data, static_cast<size_t>(from.bytes()));
}

}  // namespace

void exchange_on_cpu(int member, const std::vector<Offer>& offers) {
  const CollectiveCall& call = offers[static_cast<size_t>(member)].call;
  switch (call.kind) {
    case Collective::AllReduce:
    case Collective::ReduceScatter:
      return reduce(member, offers);
    case Collective::AllGather: {
      auto* to = static_cast<std::byte*>(call.out.data);
      for (const Offer& offer : offers) {
        copy_bytes(offer.call.in, to);
        to += call.in.bytes();
      }
      return;
    }
    case Collective::Broadcast:
      return copy_bytes(offers[static_cast<size_t>(call.peer)].call.in, call.out.data);
    case Collective::Send:
      return;
    case Collective::Recv:
      return copy_bytes(offers[0].call.in, call.out.data);
  }
}

}  // namespace ingot
