#include "ops/kernels/lm_head.h"

#include <cmath>
#include <cstring>

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

// Σ exp(value(x) - top).
template <Keep kKeep, class T, class F>
INGOT_SIMD T sum_of_exponentials(T* x, int64_t V, T top, const F& value) {
  constexpr int64_t kStep = kLanes<T>;
  const auto exponentials = [&](int64_t i) INGOT_INLINE {
    const VectorOf<T> e = exp(value(load(x + i)) - top);
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
    const VectorOf<T> e = exp(value(load_partial(x + i, V - i)) - top);
    if constexpr (kKeep == Keep::Exponentials) store_partial(x + i, e, V - i);
    for (int64_t lane = 0; lane < V - i; ++lane) sum += e[lane];
  }
  return sum;
}

template <Keep kKeep, class T>
INGOT_SIMD T sum_of_exponentials(T* x, int64_t V, T top) {
  return sum_of_exponentials<kKeep>(x, V, top, [&](VectorOf<T> v) INGOT_INLINE { return v; });
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

// c·tanh(x / c), one element of a row; x where there is no cap.
template <class T>
T capped(T x, double softcap) {
  if (softcap > 0) apply_softcap(&x, 1, softcap);
  return x;
}

// Where the target is among a shard's V rows of the vocabulary from `first` on; -1: elsewhere.
int64_t place_of(int32_t target, int64_t first, int64_t V) {
  const int64_t place = target - first;
  return place >= 0 && place < V ? place : -1;
}

// Of one token's logits: top, sum and, of all shards together, the target's.
template <class T>
struct Statistics {
  T top, sum, target;
};

template <class T>
Statistics<T> statistics_of(T* x, int64_t V, int64_t target, double softcap) {
  const T top = capped(row_max(x, V), softcap);  // the cap leaves the order as it is
  const T cap = static_cast<T>(softcap), inverse = static_cast<T>(1 / softcap);
  const T sum =
      softcap > 0
          ? sum_of_exponentials<Keep::Row>(
                x, V, top, [&](VectorOf<T> v) INGOT_INLINE { return cap * tanh(v * inverse); })
          : sum_of_exponentials<Keep::Row>(x, V, top);
  return {top, sum, target >= 0 ? capped(x[target], softcap) : T{0}};
}

// parts: of shard r at parts[r · stride].
template <class T>
Statistics<double> merged(const Statistics<T>* parts, int64_t num_shards, int64_t stride) {
  double top = static_cast<double>(parts[0].top), sum = 0, target = 0;
  for (int64_t r = 1; r < num_shards; ++r) {
    const auto other = static_cast<double>(parts[r * stride].top);
    top = other > top ? other : top;
  }
  for (int64_t r = 0; r < num_shards; ++r) {
    const Statistics<T>& part = parts[r * stride];
    sum += static_cast<double>(part.sum) * std::exp(static_cast<double>(part.top) - top);
    target += static_cast<double>(part.target);
  }
  return {top, sum, target};
}

// x becomes the gradient, as in gradient_row(), of which this is a shard's part.
template <class T>
void shard_gradient_row(T* x, int64_t V, int64_t target, const LossOptions& options, double scale,
                        const Statistics<double>& all, double lse) {
  const T top = static_cast<T>(all.top);
  const T factor = static_cast<T>(scale * (1 + 2 * options.z_loss * lse) / all.sum);
  T target_slope = 1;
  if (options.softcap > 0) {
    apply_softcap(x, V, options.softcap);
    const T inverse = static_cast<T>(1 / options.softcap);
    if (target >= 0) target_slope = 1 - x[target] * inverse * x[target] * inverse;
    transform(x, V, [&](VectorOf<T> y) INGOT_INLINE {
      const VectorOf<T> ratio = y * inverse;
      return exp(y - top) * factor * (1 - ratio * ratio);
    });
  } else {
    transform(x, V, [&](VectorOf<T> y) INGOT_INLINE { return exp(y - top) * factor; });
  }
  if (target >= 0) x[target] -= static_cast<T>(scale) * target_slope;
}

template <class T>
void statistics(Context& ctx, const Tensor& logits, const int32_t* targets, int64_t first,
                const LossOptions& options, Statistics<T>* out) {
  const int64_t V = logits.shape[1];
  for_chunks(ctx, logits.shape[0], rows_per_task(V), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* x = logits.as<T>() + n * logits.strides[0];  // (V)
      out[n] = targets[n] == options.ignore_index
                   ? Statistics<T>{}
                   : statistics_of(x, V, place_of(targets[n], first, V), options.softcap);
    }
  });
}

template <class T>
void from_statistics(Context& ctx, const Tensor& logits, const int32_t* targets, int64_t first,
                     const LossOptions& options, const Tensor& statistics, const double* scale,
                     T* losses) {
  const int64_t N = logits.shape[0], V = logits.shape[1];
  const auto* parts = reinterpret_cast<const Statistics<T>*>(statistics.as<T>());  // (R, N)
  for_chunks(ctx, N, rows_per_task(V), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* x = logits.as<T>() + n * logits.strides[0];  // (V)
      losses[n] = 0;
      if (targets[n] == options.ignore_index) {
        if (scale != nullptr) std::memset(x, 0, static_cast<size_t>(V) * sizeof(T));
        continue;
      }
      const Statistics<double> all = merged(parts + n, statistics.shape[0], N);
      const double lse = all.top + std::log(all.sum);
      losses[n] = static_cast<T>(loss_of(lse, all.target, options.z_loss));
      if (scale != nullptr)
        shard_gradient_row(x, V, place_of(targets[n], first, V), options, *scale, all, lse);
    }
  });
}

}  // namespace

void cross_entropy_statistics(Context& ctx, const Tensor& logits, const Tensor& targets,
                              int64_t first, const LossOptions& options, const Tensor& statistics) {
  const int32_t* ids = targets.as<int32_t>();
  const auto run = [&](auto element) {
    using T = decltype(element);
    cpu::INGOT_ISA::statistics(ctx, logits, ids, first, options,
                               reinterpret_cast<Statistics<T>*>(statistics.as<T>()));
  };
  if (logits.dtype == DType::F64) return run(double{});
  run(float{});
}

void cross_entropy_from_statistics(Context& ctx, const Tensor& logits, const Tensor& targets,
                                   int64_t first, const LossOptions& options,
                                   const Tensor& statistics, const Tensor& scale,
                                   const Tensor& losses) {
  const int32_t* ids = targets.as<int32_t>();
  const double* factor = scale.defined() ? scale.as<double>() : nullptr;
  if (logits.dtype == DType::F64)
    return from_statistics(ctx, logits, ids, first, options, statistics, factor,
                           losses.as<double>());
  from_statistics(ctx, logits, ids, first, options, statistics, factor, losses.as<float>());
}

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
  const double ratio = fp8_limit(DType::F8E5M2) / (2 * std::abs(*loss_scale.as<double>()));
  const int exponent = ratio > 0 && std::isfinite(ratio) ? std::ilogb(ratio) : 0;
  *scale.as<float>() = std::ldexp(1.0f, exponent);
  *inverse.as<float>() = std::ldexp(1.0f, -exponent);
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
