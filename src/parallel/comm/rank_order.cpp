#include "parallel/comm/rank_order.h"

#include <algorithm>
#include <array>

#include "core/error/error.h"
#include "core/tensor/visit_dtype.h"

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

template <class T, class Combine>
void reduce_blocks(std::span<const void* const> in, int64_t n, std::span<void* const> out,
                   const Combine& combine) {
  std::array<typename Wide<T>::Type, kBlock> total;
  std::array<T, kBlock> values;
  for (int64_t at = 0; at < n; at += kBlock) {
    const auto count = static_cast<size_t>(std::min(kBlock, n - at));
    const T* first = static_cast<const T*>(in[0]) + at;
    for (size_t i = 0; i < count; ++i) total[i] = Wide<T>::widen(first[i]);
    for (size_t member = 1; member < in.size(); ++member) {
      const T* next = static_cast<const T*>(in[member]) + at;
      for (size_t i = 0; i < count; ++i) total[i] = combine(total[i], Wide<T>::widen(next[i]));
    }
    for (size_t i = 0; i < count; ++i) values[i] = Wide<T>::narrow(total[i]);
    for (void* to : out) std::copy_n(values.data(), count, static_cast<T*>(to) + at);
  }
}

}  // namespace

void reduce_in_order(DType dtype, Reduce reduce, std::span<const void* const> in, int64_t n,
                     std::span<void* const> out) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    if (reduce == Reduce::Sum)
      reduce_blocks<T>(in, n, out, Add{});
    else
      reduce_blocks<T>(in, n, out, Larger{});
  };
  const bool known = visit_dtype<DType::F64, DType::F32, DType::BF16, DType::F16, DType::I64,
                                 DType::I32, DType::U32, DType::U16, DType::U8>(dtype, as);
  check(known, ErrorCode::Internal, "collective: 8-bit floats are not reduced");
}

}  // namespace ingot
