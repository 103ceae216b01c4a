#include <algorithm>
#include <array>
#include <cstring>

#include "core/error.h"
#include "parallel/comm/local_group.h"

namespace ingot {
namespace {

// Elements reduced at once: 16 KiB of doubles stay in L1 while the members are added one by one.
constexpr int64_t kBlock = 2048;

// What an element is added up in: small floats in float, rounded once at the end; integers in 64
// bits, cut at the end.
template <class T>
struct Wide {
  using Type = int64_t;
  static int64_t widen(T value) { return static_cast<int64_t>(value); }
  static T narrow(int64_t value) { return static_cast<T>(value); }
};
template <class T>
struct Same {
  using Type = T;
  static T widen(T value) { return value; }
  static T narrow(T value) { return value; }
};
template <class T>
struct Small {
  using Type = float;
  static float widen(T value) { return value.to_float(); }
  static T narrow(float value) { return T::from_float(value); }
};
template <>
struct Wide<double> : Same<double> {};
template <>
struct Wide<float> : Same<float> {};
template <>
struct Wide<Bf16> : Small<Bf16> {};
template <>
struct Wide<F16> : Small<F16> {};

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Larger {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

// Elements [begin, end) reduced in the order of members; `keep(at, values, n)` gets each finished
// block.
template <class T, class Combine, class Keep>
void reduce_blocks(const std::vector<Offer>& offers, MemberSlice slice, const Combine& combine,
                   const Keep& keep) {
  std::array<typename Wide<T>::Type, kBlock> total;
  std::array<T, kBlock> values;
  for (int64_t at = slice.begin; at < slice.end; at += kBlock) {
    const auto n = static_cast<size_t>(std::min(kBlock, slice.end - at));
    const T* first = offers[0].call.in.as<T>() + at;
    for (size_t i = 0; i < n; ++i) total[i] = Wide<T>::widen(first[i]);
    for (size_t member = 1; member < offers.size(); ++member) {
      const T* next = offers[member].call.in.as<T>() + at;
      for (size_t i = 0; i < n; ++i) total[i] = combine(total[i], Wide<T>::widen(next[i]));
    }
    for (size_t i = 0; i < n; ++i) values[i] = Wide<T>::narrow(total[i]);
    keep(at, values.data(), n);
  }
}

template <class T, class Combine>
void reduce(int member, const std::vector<Offer>& offers, const Combine& combine) {
  const CollectiveCall& call = offers[static_cast<size_t>(member)].call;
  const int64_t n = call.out.numel();
  if (call.kind == Collective::ReduceScatter) {
    reduce_blocks<T>(offers, {member * n, (member + 1) * n}, combine,
                     [&](int64_t at, const T* values, size_t count) {
                       std::copy_n(values, count, call.out.as<T>() + (at - member * n));
                     });
    return;
  }
  // Each member reduces its own slice of all tensors and writes it to all of them: n elements read
  // and n written by each, however many there are.
  reduce_blocks<T>(offers, member_slice(n, offers.size(), member), combine,
                   [&](int64_t at, const T* values, size_t count) {
                     for (const Offer& offer : offers)
                       std::copy_n(values, count, offer.call.out.as<T>() + at);
                   });
}

template <class T>
void reduce(int member, const std::vector<Offer>& offers) {
  if (offers[0].call.reduce == Reduce::Sum)
    reduce<T>(member, offers, Add{});
  else
    reduce<T>(member, offers, Larger{});
}

void reduce(int member, const std::vector<Offer>& offers) {
  switch (offers[0].call.in.dtype) {
    case DType::F64:
      return reduce<double>(member, offers);
    case DType::F32:
      return reduce<float>(member, offers);
    case DType::BF16:
      return reduce<Bf16>(member, offers);
    case DType::F16:
      return reduce<F16>(member, offers);
    case DType::I64:
      return reduce<int64_t>(member, offers);
    case DType::I32:
      return reduce<int32_t>(member, offers);
    case DType::U32:
      return reduce<uint32_t>(member, offers);
    case DType::U16:
      return reduce<uint16_t>(member, offers);
    case DType::U8:
      return reduce<uint8_t>(member, offers);
    default:
      throw Error(ErrorCode::Internal, "collective: 8-bit floats are not reduced");
  }
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
