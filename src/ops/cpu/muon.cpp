#include "ops/kernels/muon.h"

#include <cmath>

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

// A: the states'. U: the direction's.
template <class A, class U>
void momentum(Context& ctx, double beta, double grad_scale, const Tensor& grad, const Tensor& m,
              const Tensor& u, const Tensor& squares) {
  const A mix = static_cast<A>(1.0 - beta), scale = static_cast<A>(grad_scale);
  const A* gs = grad.as<A>();
  A* ms = m.as<A>();
  U* us = u.as<U>();
  A* sums = squares.defined() ? squares.as<A>() : nullptr;
  const int64_t each = muon_partial_elements(m.numel());
  for_chunks(ctx, m.numel(), each, [&](int64_t begin, int64_t end) {
    VectorOf<A> sum{};
    for_each_vector<A>(end - begin, [&](int64_t offset, auto n) {
      const int64_t i = begin + offset;
      const auto g = load_n(gs + i, n) * scale;
      const auto old_m = load_n(ms + i, n);
      const auto new_m = fma(broadcast<A>(mix), g - old_m, old_m);
      const auto direction = fma(broadcast<A>(mix), g - new_m, new_m);
      store_n(ms + i, new_m, n);
      store_n(us + i, direction, n);
      sum = fma(direction, direction, sum);  // lanes beyond the end are 0
    });
    if (sums != nullptr) sums[begin / each] = horizontal_sum(sum);
  });
}

// U: the direction's.
template <class U>
void squares_of(Context& ctx, const Tensor& u, const Tensor& squares) {
  using A = Compute<U>;
  const U* us = u.as<U>();
  A* sums = squares.as<A>();
  const int64_t each = muon_partial_elements(u.numel());
  for_chunks(ctx, u.numel(), each, [&](int64_t begin, int64_t end) {
    VectorOf<A> sum{};
    for_each_vector<A>(end - begin, [&](int64_t offset, auto n) {
      const auto direction = load_n(us + begin + offset, n);
      sum = fma(direction, direction, sum);  // lanes beyond the end are 0
    });
    sums[begin / each] = horizontal_sum(sum);
  });
}

// A: of master. X: of the direction.
template <class A, class X>
void apply(Context& ctx, double keep, double rate, const Tensor& x, const Tensor& master) {
  const A kept = static_cast<A>(keep), negative_rate = static_cast<A>(-rate);
  const X* xs = x.as<X>();
  A* ps = master.as<A>();
  for_chunks(ctx, master.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
    for_each_vector<A>(end - begin, [&](int64_t offset, auto n) {
      const int64_t i = begin + offset;
      store_n(ps + i, fma(broadcast<A>(negative_rate), load_n(xs + i, n), load_n(ps + i, n) * kept),
              n);
    });
  });
}

// Calls f(A{}, X{}) with the types of a direction and of the states that go with it.
template <class F>
void with_types(DType direction, const F& f) {
  with_float_type(direction, [&](auto x) { f(Compute<decltype(x)>{}, x); });
}

}  // namespace

void muon_momentum(Context& ctx, double beta, const UpdateScalars& scalars, const Tensor& grad,
                   const Tensor& m, const Tensor& u, const Tensor& squares) {
  const double* values = scalars.values.as<double>();
  if (values[kSkipped] != 0.0) return;
  with_types(u.dtype, [&](auto a, auto direction) {
    momentum<decltype(a), decltype(direction)>(ctx, beta, values[kGradScale], grad, m, u, squares);
  });
}

void muon_squares(Context& ctx, const Tensor& u, const Tensor& squares) {
  with_types(u.dtype,
             [&](auto, auto direction) { squares_of<decltype(direction)>(ctx, u, squares); });
}

void muon_normalize(Context& ctx, const Tensor& squares, double margin, const Tensor& u) {
  with_types(u.dtype, [&](auto a, auto direction) {
    using A = decltype(a);
    using U = decltype(direction);
    double sum = 0.0;
    for (int64_t i = 0; i < squares.numel(); ++i) sum += squares.as<A>()[i];
    const A scale = static_cast<A>(1.0 / (margin * std::sqrt(sum) + 1e-7));
    U* us = u.as<U>();
    for_chunks(ctx, u.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
      for_each_vector<U>(end - begin, [&](int64_t i, auto n) {
        store_n(us + begin + i, load_n(us + begin + i, n) * scale, n);
      });
    });
  });
}

void muon_polynomial(Context& ctx, const MuonPolynomial& p, const Tensor& gram,
                     const Tensor& square, const Tensor& out) {
  const int64_t S = out.shape[0];
  with_types(out.dtype, [&](auto wide, auto element) {
    using A = decltype(wide);
    using T = decltype(element);
    const A a = static_cast<A>(p.a), b = static_cast<A>(p.b), c = static_cast<A>(p.c);
    const T* grams = gram.as<T>();      // (S, S)
    const T* squares = square.as<T>();  // (S, S)
    T* result = out.as<T>();            // (S, S)
    for_chunks(ctx, S, rows_per_task(S), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        for_each_vector<T>(S, [&](int64_t col, auto n) {
          const int64_t i = row * S + col;
          auto value =
              fma(broadcast<T>(c), load_n(squares + i, n), load_n(grams + i, n) * broadcast<T>(b));
          if (row >= col && row < col + kLanes<T>) value[row - col] += a;
          store_n(result + i, value, n);
        });
      }
    });
  });
}

void muon_apply(Context& ctx, double keep, double rate, const UpdateScalars& scalars,
                const Tensor& x, const Tensor& master) {
  if (scalars.values.as<double>()[kSkipped] != 0.0) return;
  with_types(x.dtype, [&](auto wide, auto direction) {
    apply<decltype(wide), decltype(direction)>(ctx, keep, rate, x, master);
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
