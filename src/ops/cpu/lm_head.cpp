#include "ops/kernels/lm_head.h"

#include <cmath>

#include "ops/cpu/kernel.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

#define INGOT_INLINE __attribute__((always_inline))

// x ← f(x) over a row.
template <class T, class F>
INGOT_SIMD void transform(T* x, int64_t V, const F& f) {
  for_each_vector<T>(V, [&](int64_t i, auto count)
                            INGOT_INLINE { store_n(x + i, f(load_n(x + i, count)), count); });
}

template <class T>
INGOT_SIMD T row_max(const T* x, int64_t V) {
  constexpr int64_t kStep = kLanes<T>;
  VectorOf<T> top = broadcast<T>(x[0]);
  int64_t i = 0;
  for (; i + kStep <= V; i += kStep) top = max(top, load(x + i));
  T most = horizontal_max(top);
  for (; i < V; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

// Where the exponentials go: kept in place of the row when its gradient wants them next.
enum class Keep { Row, Exponentials };

// Σ exp(x - top).
template <Keep kKeep, class T>
INGOT_SIMD T sum_of_exponentials(T* x, int64_t V, T top) {
  constexpr int64_t kStep = kLanes<T>;
  const auto exponentials = [&](int64_t i) INGOT_INLINE {
    const VectorOf<T> e = exp(load(x + i) - top);
    if constexpr (kKeep == Keep::Exponentials) store(x + i, e);
    return e;
  };
  VectorOf<T> first{}, second{};
  int64_t i = 0;
  for (; i + 2 * kStep <= V; i += 2 * kStep) {
    first += exponentials(i);
    second += exponentials(i + kStep);
  }
  for (; i + kStep <= V; i += kStep) first += exponentials(i);
  T sum = horizontal_sum(first + second);
  if (i < V) {
    const VectorOf<T> e = exp(load_partial(x + i, V - i) - top);
    if constexpr (kKeep == Keep::Exponentials) store_partial(x + i, e, V - i);
    for (int64_t lane = 0; lane < V - i; ++lane) sum += e[lane];
  }
  return sum;
}

template <class T>
INGOT_SIMD void apply_softcap(T* x, int64_t V, double softcap) {
  const T cap = static_cast<T>(softcap), inverse = static_cast<T>(1 / softcap);
  transform(x, V, [&](VectorOf<T> v) INGOT_INLINE { return cap * tanh(v * inverse); });
}

double loss_of(double lse, double target_logit, double z_loss) {
  return lse - target_logit + z_loss * lse * lse;
}

template <class T>
void forward(Context& ctx, const Tensor& logits, const int32_t* targets, const LossOptions& options,
             T* losses) {
  const int64_t V = logits.shape[1];
  for_chunks(ctx, logits.shape[0], rows_per_task(V), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      losses[n] = 0;
      if (targets[n] == options.ignore_index) continue;
      T* x = logits.as<T>() + n * logits.strides[0];  // (V)
      if (options.softcap > 0) apply_softcap(x, V, options.softcap);
      const T top = row_max(x, V);
      const double lse = static_cast<double>(top) +
                         std::log(static_cast<double>(sum_of_exponentials<Keep::Row>(x, V, top)));
      losses[n] = static_cast<T>(loss_of(lse, static_cast<double>(x[targets[n]]), options.z_loss));
    }
  });
}

// One row. With p the softmax of the capped logits y = c·tanh(x / c):
// d loss / dy = p·(1 + 2·z·lse) - onehot, dy / dx = 1 - (y / c)².
template <class T>
T gradient_row(T* x, int64_t V, int32_t target, const LossOptions& options, double scale) {
  const bool capped = options.softcap > 0;
  if (capped) apply_softcap(x, V, options.softcap);
  const T top = row_max(x, V);
  const double target_logit = static_cast<double>(x[target]);
  // The cap's slope needs y after the sum is known, so there exp is taken twice.
  const T sum = capped ? sum_of_exponentials<Keep::Row>(x, V, top)
                       : sum_of_exponentials<Keep::Exponentials>(x, V, top);
  const double lse = static_cast<double>(top) + std::log(static_cast<double>(sum));
  const T factor =
      static_cast<T>(scale * (1 + 2 * options.z_loss * lse) / static_cast<double>(sum));
  if (capped) {
    const T inverse = static_cast<T>(1 / options.softcap);
    const T slope = 1 - x[target] * inverse * x[target] * inverse;
    transform(x, V, [&](VectorOf<T> y) INGOT_INLINE {
      const VectorOf<T> ratio = y * inverse;
      return exp(y - top) * factor * (1 - ratio * ratio);
    });
    x[target] -= static_cast<T>(scale) * slope;
  } else {
    transform(x, V, [&](VectorOf<T> e) INGOT_INLINE { return e * factor; });
    x[target] -= static_cast<T>(scale);
  }
  return static_cast<T>(loss_of(lse, target_logit, options.z_loss));
}

template <class T>
void gradient(Context& ctx, const Tensor& logits, const int32_t* targets,
              const LossOptions& options, double scale, T* losses) {
  const int64_t V = logits.shape[1];
  for_chunks(ctx, logits.shape[0], rows_per_task(V), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* x = logits.as<T>() + n * logits.strides[0];  // (V)
      if (targets[n] == options.ignore_index) {
        std::memset(x, 0, static_cast<size_t>(V) * sizeof(T));
        losses[n] = 0;
      } else {
        losses[n] = gradient_row(x, V, targets[n], options, scale);
      }
    }
  });
}

}  // namespace

void cross_entropy(Context& ctx, const Tensor& logits, const Tensor& targets,
                   const LossOptions& options, const Tensor& losses) {
  const int32_t* ids = targets.as<int32_t>();
  if (logits.dtype == DType::F64) return forward(ctx, logits, ids, options, losses.as<double>());
  forward(ctx, logits, ids, options, losses.as<float>());
}

void cross_entropy_gradient(Context& ctx, const Tensor& logits, const Tensor& targets,
                            const LossOptions& options, const Tensor& scale, const Tensor& losses) {
  const int32_t* ids = targets.as<int32_t>();
  const double factor = *scale.as<double>();
  if (logits.dtype == DType::F64) {
    return gradient(ctx, logits, ids, options, factor, losses.as<double>());
  }
  gradient(ctx, logits, ids, options, factor, losses.as<float>());
}

void logits_gradient_scale(Context&, const Tensor& loss_scale, const Tensor& scale,
                           const Tensor& inverse) {
  const int exponent =
      std::ilogb(fp8_limit(DType::F8E5M2) / (2 * std::abs(*loss_scale.as<double>())));
  *scale.as<float>() = std::ldexp(1.0f, exponent);
  *inverse.as<float>() = std::ldexp(1.0f, -exponent);
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/isa_end.h"
