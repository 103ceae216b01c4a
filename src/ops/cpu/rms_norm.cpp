#include "ops/kernels/rms_norm.h"

#include <cmath>

#include "ops/cpu/kernel.h"
#include "ops/cpu/row_sums.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

// Rows of (N, C), or of (N, H, D) with strides of its own for rows and heads.
template <class T>
struct Rows {
  explicit Rows(const Tensor& tensor)
      : data(tensor.as<T>()),
        heads(tensor.shape.rank() == 3 ? tensor.shape[1] : 1),
        stride(tensor.strides[0]),
        head_stride(tensor.shape.rank() == 3 ? tensor.strides[1] : 0) {}

  T* operator[](int64_t row) const {
    return heads == 1 ? data + row * stride
                      : data + row / heads * stride + row % heads * head_stride;
  }

  T* data;
  int64_t heads;
  int64_t stride;
  int64_t head_stride;
};

template <class T>
INGOT_SIMD Compute<T> reciprocal_rms(const T* x, int64_t C, double eps) {
  using A = Compute<T>;
  const A squares = sum_of<T>(C, [&](int64_t i, auto count, VectorOf<T> s) {
    const auto v = load_n(x + i, count);
    return fma(v, v, s);
  });
  return A{1} / std::sqrt(squares / static_cast<A>(C) + static_cast<A>(eps));
}

template <class T>
void backward(Context& ctx, const Tensor& dy_t, const Tensor& x_t, const Tensor& weight,
              const Tensor& rstd, const Tensor& dx_t, bool accumulate_dx, const Tensor& dweight,
              const Tensor& y_t) {
  using A = Compute<T>;
  const int64_t C = x_t.shape[-1];
  const int64_t num_rows = rstd.numel();
  const int64_t rows_per_chunk = rms_norm_rows_per_chunk(num_rows);
  const int64_t num_chunks = (num_rows + rows_per_chunk - 1) / rows_per_chunk;
  const bool build_y = y_t.defined();
  const Rows<T> dys(dy_t), xs(x_t), dxs(dx_t), ys(build_y ? y_t : x_t);
  const T* w = weight.as<T>();  // (C)
  const A* rs = rstd.as<A>();   // (rows)
  A* dw = dweight.as<A>();      // (C)
  Workspace::Scope scope(ctx.workspace);
  A* partials = ctx.workspace.take(dtype_of<A>(), {num_chunks, C}).template as<A>();

  for_chunks(ctx, num_rows, rows_per_chunk, [&](int64_t begin, int64_t end) {
    A* partial = partials + begin / rows_per_chunk * C;
    for (int64_t i = 0; i < C; ++i) partial[i] = 0;
    for (int64_t row = begin; row < end; ++row) {
      const T* x = xs[row];
      const T* dy = dys[row];
      T* dx = dxs[row];
      T* y = ys[row];
      const A r = rs[row];
      // dx = r·(dy·w) - x·r³/C · Σ dy·w·x
      const A dot = sum_of<T>(C, [&](int64_t i, auto count, VectorOf<T> s) {
        return fma(load_n(dy + i, count) * load_n(w + i, count), load_n(x + i, count), s);
      });
      const A shrink = -dot * r * r * r / static_cast<A>(C);
      for_each_vector<T>(C, [&](int64_t i, auto count) {
        const auto xv = load_n(x + i, count);
        const auto wv = load_n(w + i, count);
        const auto rdy = load_n(dy + i, count) * r;
        auto d = fma(xv, broadcast<T>(shrink), rdy * wv);
        store_n(partial + i, fma(rdy, xv, load_n(partial + i, count)), count);
        if (accumulate_dx) d += load_n(dx + i, count);
        store_n(dx + i, d, count);
        if (build_y) store_n(y + i, xv * r * wv, count);
      });
    }
  });

  add_partials(ctx, partials, num_chunks, C, dw);
}

}  // namespace

void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                      const Tensor& y, const Tensor& rstd) {
  const int64_t C = x.shape[-1];
  with_float_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const Rows<T> xs(x), ys(y);
    const T* w = weight.as<T>();             // (C)
    Compute<T>* rs = rstd.as<Compute<T>>();  // (rows)
    for_chunks(ctx, rstd.numel(), rows_per_task(C), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* in = xs[row];
        const auto r = reciprocal_rms<T>(in, C, eps);
        rs[row] = r;
        T* out = ys[row];
        for_each_vector<T>(C, [&](int64_t i, auto count) {
          store_n(out + i, load_n(in + i, count) * r * load_n(w + i, count), count);
        });
      }
    });
  });
}

void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight, const Tensor& y) {
  with_float_type(x.dtype, [&](auto tag) {
    backward<decltype(tag)>(ctx, dy, x, weight, rstd, dx, accumulate_dx, dweight, y);
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
