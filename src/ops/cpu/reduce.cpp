#include "ops/kernels/reduce.h"

#include <cstring>

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

// Partial sums live on the stack: their number is bounded, so chunks grow with the tensor.
constexpr int64_t kMaxChunks = 256;

// Σ f(x) over n elements, in double; two vectors of doubles for each vector of floats.
template <class T, class F>
double sum_chunk(const T* x, int64_t n, const F& f) {
  DoubleV low{}, high{};
  for_each_vector<T>(n, [&](int64_t i, auto count) {
    const VectorOf<T> v = load_n(x + i, count);  // lanes beyond the end are 0 and add nothing
    if constexpr (std::is_same_v<T, double>) {
      low = f(v, low);
    } else {
      low = f(lower_doubles(v), low);
      high = f(upper_doubles(v), high);
    }
  });
  return horizontal_sum(low + high);
}

// The float nearest to d but, where d is not a float, the odd one of its two neighbours: rounding
// that to 16 or 8 bits gives what rounding d itself would, where a second rounding to even errs.
float round_to_odd(double d) {
  const float nearest = static_cast<float>(d);
  if (static_cast<double>(nearest) == d || nearest != nearest) return nearest;
  uint32_t bits = bits_as<uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(d)) --bits;
  return bits_as<float>(bits | 1u);
}

// One element of any float type. Narrow types go through float; doubles to them by way of an odd
// float.
template <class To, class From>
INGOT_SIMD To convert(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_floating_point_v<From> && std::is_floating_point_v<To>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_same_v<From, double>) {
    return To::from_float(round_to_odd(from));
  } else if constexpr (std::is_same_v<From, float>) {
    return To::from_float(from);
  } else {
    return convert<To>(from.to_float());
  }
}

template <class From, class To>
constexpr bool kVectorised = (std::is_same_v<From, float> && std::is_same_v<To, Bf16>) ||
                             (std::is_same_v<From, Bf16> && std::is_same_v<To, float>);

// f(T{}) with the element type, storage-only types included.
template <class F>
void with_any_float_type(DType dtype, const F& f) {
  with_type<DType::F64, DType::F32, DType::BF16, DType::F16, DType::F8E4M3, DType::F8E5M2>(dtype,
                                                                                           f);
}

}  // namespace

double sum_of(Context& ctx, const Tensor& tensor, SumOf what) {
  const int64_t n = tensor.numel();
  const int64_t even = (n + kMaxChunks - 1) / kMaxChunks;
  const int64_t chunk = even < kElementsPerTask ? kElementsPerTask : even;
  double partials[kMaxChunks] = {};
  with_float_type(tensor.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* x = tensor.as<T>();
    for_chunks(ctx, n, chunk, [&](int64_t begin, int64_t end) {
      partials[begin / chunk] =
          what == SumOf::Squares
              ? sum_chunk(x + begin, end - begin, [](auto v, DoubleV s) { return fma(v, v, s); })
              : sum_chunk(x + begin, end - begin, [](auto v, DoubleV s) { return s + v; });
    });
  });
  double total = 0.0;
  for (double partial : partials) total += partial;
  return total;
}

void cast(Context& ctx, const Tensor& src, const Tensor& dst) {
  with_any_float_type(src.dtype, [&](auto from_tag) {
    with_any_float_type(dst.dtype, [&](auto to_tag) {
      using From = decltype(from_tag);
      using To = decltype(to_tag);
      const From* from = src.as<From>();
      To* to = dst.as<To>();
      for_chunks(ctx, src.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
        if constexpr (kVectorised<From, To>) {
          for_each_vector<From>(end - begin, [&](int64_t i, auto count) {
            store_n(to + begin + i, load_n(from + begin + i, count), count);
          });
        } else {
          for (int64_t i = begin; i < end; ++i) to[i] = convert<To>(from[i]);
        }
      });
    });
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
