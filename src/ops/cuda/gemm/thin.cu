#include "ops/cuda/gemm/thin.h"

#include <algorithm>

#include "ops/cuda/activation.cuh"
#include "ops/cuda/gemm/thin.cuh"
#include "ops/cuda/rope.cuh"

namespace ingot::cuda {
namespace {

using thin::Operands;

template <class O>
struct StoreSums {
  O* y;             // (M, R)
  const O* addend;  // like y, or null
  int64_t stride;
  int distance;

  __device__ void store(int row, int first, float a, float b, bool has_second) const {
    put(row * stride + first, a);
    if (has_second) put(row * stride + first + distance, b);
  }
  __device__ void put(int64_t at, float sum) const {
    if (addend != nullptr) sum += to_float(addend[at]);
    y[at] = from_float<O>(sum);
  }
};

// The bits of swiglu_forward() after the GEMM, which rounds its output.
template <class T>
struct StoreSwiglu {
  T* gate_up;  // (M, 2F)
  T* out;      // (M, F)
  int64_t F;

  __device__ void store(int row, int first, float a, float b, bool) const {
    const T gate = from_float<T>(a), up = from_float<T>(b);
    gate_up[row * 2 * F + first] = gate;
    gate_up[row * 2 * F + F + first] = up;
    out[row * F + first] = from_float<T>(swiglu<T>(to_float(gate), to_float(up)));
  }
};

template <class T>
struct StoreRotated {
  T* y;  // (M, R)
  int64_t stride;
  const float *cos, *sin;    // (context, half)
  const int32_t* positions;  // (M), or null:
  int64_t first_position, tokens_per_row;
  int half, distance;  // of a head; of a pair
  int rotated;         // columns

  __device__ void store(int row, int first, float a, float b, bool has_second) const {
    float real = to_float(from_float<T>(a)), imaginary = to_float(from_float<T>(b));
    if (first < rotated) {
      const int64_t position =
          positions != nullptr ? positions[row] : first_position + row % tokens_per_row;
      const int in_head = first % (2 * half);
      const int64_t angle = position * half + (distance == 1 ? in_head / 2 : in_head);
      turn(real, imaginary, cos[angle], sin[angle]);
    }
    y[row * stride + first] = from_float<T>(real);
    if (has_second) y[row * stride + first + distance] = from_float<T>(imaginary);
  }
};

template <class T>
bool fits(const T* x, int64_t x_stride, const T* w, int64_t w_stride, int64_t M, int64_t C) {
  return M <= kThinRows && C > 0 && C % Vec<T>::kSize == 0 && fits_vec(x, x_stride) &&
         fits_vec(w, w_stride);
}
template <class T>
bool fits(const Tensor& x, const Tensor& w) {
  return fits(static_cast<const T*>(x.data), x.strides[0], static_cast<const T*>(w.data),
              w.strides[0], x.shape[0], x.shape[1]);
}

template <int kWarps, class T, class Epilogue>
void run_blocks(Context& ctx, const Operands<T>& op, unsigned tiles, const Epilogue& epilogue) {
  const auto most = static_cast<unsigned>(thin::kWarpsPerSm / kWarps * ctx.cuda->num_sms());
  const auto kernel = op.M <= thin::kColumns ? thin::gemm_kernel<T, 1, kWarps, Epilogue>
                                             : thin::gemm_kernel<T, 2, kWarps, Epilogue>;
  launch_early({ctx, std::min(tiles, most), kWarps * kWarp}, kernel, op, epilogue,
               static_cast<int>(tiles));
}

template <class T, class Epilogue>
void run(Context& ctx, const Operands<T>& op, int64_t pairs, const Epilogue& epilogue) {
  const unsigned tiles = blocks_for(pairs, thin::kPairs);
  if (tiles <= static_cast<unsigned>(ctx.cuda->num_sms()))
    run_blocks<thin::kWarpsPerSm>(ctx, op, tiles, epilogue);
  else
    run_blocks<thin::kWarpsPerSm / 2>(ctx, op, tiles, epilogue);
}

template <class T>
Operands<T> operands(const Tensor& x, const Tensor& w, int64_t distance) {
  return {.x = static_cast<const T*>(x.data),
          .w = static_cast<const T*>(w.data),
          .x_stride = x.strides[0],
          .w_stride = w.strides[0],
          .M = static_cast<int>(x.shape[0]),
          .R = static_cast<int>(w.shape[0]),
          .C = static_cast<int>(w.shape[1]),
          .distance = static_cast<int>(distance)};
}

// Calls f(T{}) for the dtypes that the kernel multiplies; else false.
template <class F>
bool with_thin_type(DType dtype, const F& f) {
  if (dtype == DType::BF16) return f(__nv_bfloat16{});
  if (dtype == DType::F32) return f(float{});
  return false;
}

template <class T, class O>
bool store_sums(Context& ctx, const Gemm& gemm) {
  const T *x = static_cast<const T*>(gemm.a.data), *w = static_cast<const T*>(gemm.b.data);
  if (!fits(x, gemm.a.stride, w, gemm.b.stride, gemm.M, gemm.K)) return false;
  constexpr int kDistance = thin::kPairs;  // a block's rows are adjacent
  const Operands<T> op{.x = x,
                       .w = w,
                       .x_stride = gemm.a.stride,
                       .w_stride = gemm.b.stride,
                       .M = static_cast<int>(gemm.M),
                       .R = static_cast<int>(gemm.N),
                       .C = static_cast<int>(gemm.K),
                       .distance = kDistance};
  const void* addend = gemm.addend != nullptr ? gemm.addend : gemm.accumulate ? gemm.c : nullptr;
  const StoreSums<O> epilogue{static_cast<O*>(gemm.c), static_cast<const O*>(addend), gemm.c_stride,
                              kDistance};
  run(ctx, op, (gemm.N + 2 * kDistance - 1) / (2 * kDistance) * kDistance, epilogue);
  return true;
}

}  // namespace

bool thin_gemm(Context& ctx, const Gemm& gemm) {
  if (gemm.a.transposed || !gemm.b.transposed || gemm.a.dtype != gemm.b.dtype) return false;
  return with_thin_type(gemm.a.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (gemm.c_dtype == gemm.a.dtype) return store_sums<T, T>(ctx, gemm);
    return gemm.c_dtype == DType::F32 && store_sums<T, float>(ctx, gemm);
  });
}

bool thin_swiglu(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& gate_up,
                 const Tensor& out) {
  if (!gate_up.is_contiguous() || !out.is_contiguous()) return false;
  return with_thin_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (!fits<T>(x, w)) return false;
    const int64_t F = out.shape[1];
    run(ctx, operands<T>(x, w, F), F,
        StoreSwiglu<T>{static_cast<T*>(gate_up.data), static_cast<T*>(out.data), F});
    return true;
  });
}

bool thin_rope(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y, const Tensor& heads,
               const RopeInput& rope) {
  const int64_t T_ = heads.shape[1], H = heads.shape[2], D = heads.shape[3];
  const bool first_columns = heads.data == y.data && heads.strides[2] == D &&
                             heads.strides[1] == y.strides[0] &&
                             heads.strides[0] == T_ * y.strides[0] &&
                             heads.shape[0] * T_ == y.shape[0] && y.shape[1] % D == 0;
  if (!first_columns) return false;
  return with_thin_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (!fits<T>(x, w)) return false;
    const int64_t distance = rope.pairs == RopePairs::HalfSplit ? D / 2 : 1;
    run(ctx, operands<T>(x, w, distance), y.shape[1] / 2,
        StoreRotated<T>{
            .y = static_cast<T*>(y.data),
            .stride = y.strides[0],
            .cos = rope.cos.as<float>(),
            .sin = rope.sin.as<float>(),
            .positions = rope.positions.defined() ? rope.positions.as<int32_t>() : nullptr,
            .first_position = rope.first_position,
            .tokens_per_row = T_,
            .half = static_cast<int>(D / 2),
            .distance = static_cast<int>(distance),
            .rotated = static_cast<int>(H * D)});
    return true;
  });
}

}  // namespace ingot::cuda
