#include "ops/kernels/layer_norm.h"

#include <cmath>

#include "ops/cpu/row_sums.h"
#include "ops/kernels/rms_norm.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

template <class T>
INGOT_SIMD Compute<T> mean_of(const T* x, int64_t C) {
  const Compute<T> sum =
      sum_of<T>(C, [&](int64_t i, auto count, VectorOf<T> s) { return s + load_n(x + i, count); });
  return sum / static_cast<Compute<T>>(C);
}

// Lanes beyond a row's end are zero when loaded; minus the mean they are not.
template <class T, class Count>
INGOT_SIMD VectorOf<T> centered(const T* x, Compute<T> mean, Count count) {
  VectorOf<T> v = load_n(x, count) - mean;
  if constexpr (std::is_integral_v<Count>)
    for (int64_t i = count; i < kLanes<T>; ++i) v[i] = 0;
  return v;
}

template <class T>
INGOT_SIMD VectorOf<T> normed(VectorOf<T> centered_x, Compute<T> rstd, VectorOf<T> weight,
                              VectorOf<T> bias) {
  return fma(centered_x * rstd, weight, bias);
}

template <class T>
void backward(Context& ctx, const LayerNormBackward& n) {
  using A = Compute<T>;
  const int64_t N = n.x.shape[0], C = n.x.shape[1];
  const int64_t rows_per_chunk = rms_norm_rows_per_chunk(N);
  const int64_t num_chunks = (N + rows_per_chunk - 1) / rows_per_chunk;
  const T* w = n.weight.as<T>();  // (C)
  const T* b = n.bias.as<T>();    // (C)
  const A* rs = n.rstd.as<A>();   // (N)
  Workspace::Scope scope(ctx.workspace);
  A* partials = ctx.workspace.take(dtype_of<A>(), {2 * num_chunks, C}).template as<A>();
  A* dbias_partials = partials + num_chunks * C;

  for_chunks(ctx, N, rows_per_chunk, [&](int64_t begin, int64_t end) {
    A* dw = partials + begin / rows_per_chunk * C;
    A* db = dbias_partials + begin / rows_per_chunk * C;
    for (int64_t i = 0; i < C; ++i) dw[i] = db[i] = 0;
    for (int64_t row = begin; row < end; ++row) {
      const T* x = n.x.as<T>() + row * n.x.strides[0];
      const T* dy = n.dy.as<T>() + row * n.dy.strides[0];
      T* dx = n.dx.as<T>() + row * n.dx.strides[0];
      T* y = n.y.defined() ? n.y.as<T>() + row * n.y.strides[0] : nullptr;
      const A mean = mean_of<T>(x, C), r = rs[row];
      // x̂ = (x - mean)·r; dx = r·(dy·w - Σ dy·w/C - x̂·Σ dy·w·x̂/C)
      const A sum = sum_of<T>(C, [&](int64_t i, auto count, VectorOf<T> s) {
        return fma(load_n(dy + i, count), load_n(w + i, count), s);
      });
      const A dot = sum_of<T>(C, [&](int64_t i, auto count, VectorOf<T> s) {
        return fma(load_n(dy + i, count) * load_n(w + i, count),
                   centered<T>(x + i, mean, count) * r, s);
      });
      const A shift = sum / static_cast<A>(C), shrink = dot / static_cast<A>(C);
      for_each_vector<T>(C, [&](int64_t i, auto count) {
        const auto cx = centered<T>(x + i, mean, count);
        const auto xhat = cx * r;
        const auto g = load_n(dy + i, count), wv = load_n(w + i, count);
        auto d = (fma(g, wv, broadcast<T>(-shift)) - xhat * shrink) * r;
        store_n(dw + i, fma(g, xhat, load_n(dw + i, count)), count);
        store_n(db + i, g + load_n(db + i, count), count);
        if (n.accumulate_dx) d += load_n(dx + i, count);
        store_n(dx + i, d, count);
        if (y != nullptr) store_n(y + i, normed<T>(cx, r, wv, load_n(b + i, count)), count);
      });
    }
  });
  add_partials(ctx, partials, num_chunks, C, n.dweight.as<A>());
  add_partials(ctx, dbias_partials, num_chunks, C, n.dbias.as<A>());
}

}  // namespace

void layer_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        double eps, const Tensor& y, const Tensor& rstd) {
  const int64_t C = x.shape[1];
  with_float_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    using A = Compute<T>;
    const T* w = weight.as<T>();  // (C)
    const T* b = bias.as<T>();    // (C)
    A* rs = rstd.as<A>();         // (N)
    for_chunks(ctx, x.shape[0], rows_per_task(C), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* in = x.as<T>() + row * x.strides[0];
        T* out = y.as<T>() + row * y.strides[0];
        const A mean = mean_of<T>(in, C);
        const A squares = sum_of<T>(C, [&](int64_t i, auto count, VectorOf<T> s) {
          const auto v = centered<T>(in + i, mean, count);
          return fma(v, v, s);
        });
        const A r = A{1} / std::sqrt(squares / static_cast<A>(C) + static_cast<A>(eps));
        rs[row] = r;
        for_each_vector<T>(C, [&](int64_t i, auto count) {
          const auto v = centered<T>(in + i, mean, count);
          store_n(out + i, normed<T>(v, r, load_n(w + i, count), load_n(b + i, count)), count);
        });
      }
    });
  });
}

void layer_norm_backward(Context& ctx, const LayerNormBackward& norm) {
  with_float_type(norm.x.dtype, [&](auto tag) { backward<decltype(tag)>(ctx, norm); });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
