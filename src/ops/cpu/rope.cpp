#include "ops/kernels/rope.h"

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

// (x[i], x[i + half]) ← rotated by (c[i], sign·s[i]).
template <class T>
INGOT_SIMD void rotate_halves(T* x, const Compute<T>* c, const Compute<T>* s, int64_t half,
                              Compute<T> sign) {
  for_each_vector<T>(half, [&](int64_t i, auto count) {
    const auto cv = load_n(c + i, count);
    const auto sv = load_n(s + i, count) * sign;
    const auto a = load_n(x + i, count);
    const auto b = load_n(x + half + i, count);
    store_n(x + i, fma(a, cv, -(b * sv)), count);
    store_n(x + half + i, fma(b, cv, a * sv), count);
  });
}

// Lane numbers {begin, begin, begin + 1, begin + 1, …}, and each pair of lanes swapped.
template <class V, class Lane>
INGOT_SIMD auto doubled_lanes(Lane begin) {
  typedef Lane Lanes __attribute__((vector_size(sizeof(V))));
  Lanes lanes{};
  for (size_t i = 0; i < sizeof(V) / sizeof(Lane); ++i) lanes[i] = begin + static_cast<Lane>(i / 2);
  return lanes;
}
template <class V, class Lane>
INGOT_SIMD auto swapped_lanes() {
  typedef Lane Lanes __attribute__((vector_size(sizeof(V))));
  Lanes lanes{};
  for (size_t i = 0; i < sizeof(V) / sizeof(Lane); ++i) lanes[i] = static_cast<Lane>(i ^ 1);
  return lanes;
}

// (x[2i], x[2i + 1]) ← rotated. A vector of pairs v becomes v·(c, c, …) + swap(v)·(-s, s, …).
template <class T>
INGOT_SIMD void rotate_neighbours(T* x, const Compute<T>* c, const Compute<T>* s, int64_t half,
                                  Compute<T> sign) {
  using A = Compute<T>;
  using V = VectorOf<T>;
  using Lane = std::conditional_t<std::is_same_v<A, double>, int64_t, int32_t>;
  constexpr int64_t L = kLanes<T>;
  V signs{};
  for (int i = 0; i < L; ++i) signs[i] = i % 2 == 0 ? -sign : sign;
  auto rotated = [&](V v, V cv, V sv) {
    const V swapped = __builtin_shuffle(v, swapped_lanes<V, Lane>());
    return fma(v, cv, swapped * sv * signs);
  };
  int64_t i = 0;
  for (; i + L <= half; i += L) {
    const V cv = load(c + i), sv = load(s + i);
    const auto low = doubled_lanes<V, Lane>(0);
    const auto high = doubled_lanes<V, Lane>(L / 2);
    T* pairs = x + 2 * i;
    store(pairs, rotated(load(pairs), __builtin_shuffle(cv, low), __builtin_shuffle(sv, low)));
    store(pairs + L,
          rotated(load(pairs + L), __builtin_shuffle(cv, high), __builtin_shuffle(sv, high)));
  }
  if (i < half) {
    // The same arithmetic on a partial vector: its pairs may fill up to two.
    A cs[2 * L] = {}, ss[2 * L] = {};
    for (int64_t j = 0; j < half - i; ++j) {
      cs[2 * j] = cs[2 * j + 1] = c[i + j];
      ss[2 * j] = ss[2 * j + 1] = s[i + j];
    }
    T* pairs = x + 2 * i;
    for_each_vector<T>(2 * (half - i), [&](int64_t j, auto count) {
      store_n(pairs + j, rotated(load_n(pairs + j, count), load(cs + j), load(ss + j)), count);
    });
  }
}

}  // namespace

void rope(Context& ctx, const Tensor& x, const RopeInput& rope, Rotation rotation) {
  const int32_t* positions = rope.positions.defined() ? rope.positions.as<int32_t>() : nullptr;
  const int64_t B = x.shape[0], T = x.shape[1], H = x.shape[2], D = x.shape[3];
  with_float_type(x.dtype, [&](auto tag) {
    using E = decltype(tag);
    using A = Compute<E>;
    E* data = x.as<E>();            // (B, T, H, D), strided
    const A* c = rope.cos.as<A>();  // (context, D/2)
    const A* s = rope.sin.as<A>();  // (context, D/2)
    const A sign = rotation == Rotation::Forward ? A{1} : A{-1};
    for_chunks(ctx, B * T, rows_per_task(H * D), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const int64_t b = n / T, t = n % T;
        const int64_t row = (positions ? positions[n] : rope.first_position + t) * (D / 2);
        E* heads = data + b * x.strides[0] + t * x.strides[1];
        for (int64_t h = 0; h < H; ++h) {
          E* head = heads + h * x.strides[2];
          if (rope.pairs == RopePairs::HalfSplit) {
            rotate_halves<E>(head, c + row, s + row, D / 2, sign);
          } else {
            rotate_neighbours<E>(head, c + row, s + row, D / 2, sign);
          }
        }
      }
    });
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
