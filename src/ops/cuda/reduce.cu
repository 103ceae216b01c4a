#include "ops/kernels/reduce.h"

#include <algorithm>

#include "core/cuda/owners.h"
#include "ops/cuda/common/tensor_list.cuh"
#include "ops/cuda/fp8/fp8.cuh"

namespace ingot::cuda {
namespace {

enum class SumOf { Values, Squares };

constexpr int kThreads = 256;
// 256 KB of F32: long enough to outweigh a block's start, short enough that the last blocks of a
// model's gradients do not run alone.
constexpr int64_t kChunk = 64 * 1024;

struct Summand {
  const void* data = nullptr;
  DType dtype = DType::F32;
  int64_t n = 0;
  int64_t first_chunk = 0;
  bool operator==(const Summand&) const = default;
};

// What a sum keeps on the device, so that the same one again has nothing to send: the summands and
// a double for each of their chunks.
struct SumState {
  TensorList<Summand, kChunk> summands;
  std::optional<Arena> partials;
};
struct ValuesState : SumState {
  explicit ValuesState(CudaContext&) {}
};
struct SquaresState : SumState {
  explicit SquaresState(CudaContext&) {}
};

// This thread's share of Σ x or Σ x² over x(n); which elements it takes depends on n alone.
template <class T>
__device__ double thread_sum(const T* x, int64_t n, bool squares) {
  constexpr int kSize = Vec<T>::kSize;
  constexpr int kInFlight = 4;  // loads before the first is used
  double sums[kSize] = {};
  auto add = [&](int lane, T element) {
    const double value = static_cast<Compute<T>>(element);
    sums[lane] = fma(value, squares ? value : 1.0, sums[lane]);
  };
  const int64_t vectors = reinterpret_cast<uintptr_t>(x) % 16 == 0 ? n / kSize : 0;
  for (int64_t first = threadIdx.x; first < vectors; first += kInFlight * kThreads) {
    Vec<T> values[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int64_t at = first + i * kThreads;
      if (at < vectors) values[i] = load_vec_streaming(x + at * kSize);
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (first + i * kThreads >= vectors) break;
#pragma unroll
      for (int lane = 0; lane < kSize; ++lane) add(lane, values[i].v[lane]);
    }
  }
#pragma unroll 1
  for (int64_t i = vectors * kSize + threadIdx.x; i < n; i += kThreads) add(0, x[i]);
  double sum = 0.0;
#pragma unroll
  for (int lane = 0; lane < kSize; ++lane) sum += sums[lane];
  return sum;
}

// partials[chunk] = the chunk's sum.
__global__ void sum_chunks(const Summand* summands, int count, bool squares, double* partials) {
  __shared__ double shared[kThreads / kWarp];
  const int64_t chunk = blockIdx.x;
  const Summand& x = entry_of_chunk(summands, count, chunk);
  const int64_t begin = (chunk - x.first_chunk) * kChunk;
  const int64_t n = min(kChunk, x.n - begin);
  double sum = 0.0;
  switch (x.dtype) {
    case DType::F32:
      sum = thread_sum(static_cast<const float*>(x.data) + begin, n, squares);
      break;
    case DType::BF16:
      sum = thread_sum(static_cast<const __nv_bfloat16*>(x.data) + begin, n, squares);
      break;
    case DType::F64:
      sum = thread_sum(static_cast<const double*>(x.data) + begin, n, squares);
      break;
    default:  // refused by the op
      break;
  }
  sum = block_sum<kThreads>(sum, shared);
  if (threadIdx.x == 0) partials[chunk] = sum;
}

constexpr int kTotalThreads = 1024;

// *total = Σ partials(n), one block; `total` is the device's memory or pinned memory of the host.
__global__ void sum_partials(const double* partials, int64_t n, double* total) {
  __shared__ double shared[kTotalThreads / kWarp];
  double sum = 0.0;
  for (int64_t i = threadIdx.x; i < n; i += kTotalThreads) sum += partials[i];
  sum = block_sum<kTotalThreads>(sum, shared);
  if (threadIdx.x == 0) *total = sum;
}

// *total = the sum over all tensors, once the stream gets there.
void issue_sum(Context& ctx, SumState& state, std::span<const Tensor> tensors, SumOf what,
               double* total) {
  std::vector<Summand> summands;
  for (const Tensor& tensor : tensors)
    summands.push_back({.data = tensor.data, .dtype = tensor.dtype, .n = tensor.numel()});
  state.summands.set(ctx, std::move(summands));
  const int64_t num_chunks = state.summands.num_chunks();
  const int64_t bytes = std::max<int64_t>(num_chunks, 1) * size_of(DType::F64);
  if (!state.partials || state.partials->bytes() < bytes) state.partials.emplace(ctx.device, bytes);
  auto* partials = state.partials->place(0, DType::F64, {num_chunks}).as<double>();
  if (num_chunks > 0)
    launch({ctx, blocks_for(num_chunks, 1), kThreads}, sum_chunks, state.summands.on_device(),
           state.summands.size(), what == SumOf::Squares, partials);
  launch({ctx, 1, kTotalThreads}, sum_partials, partials, num_chunks, total);
}

// Each sum has a place of its own; the host adds them up when it is asked, or when places run out.
class CudaRunningSum final : public RunningSum {
 public:
  explicit CudaRunningSum(Context& ctx) : RunningSum(ctx) {}
  // Sums under way still write to their places.
  ~CudaRunningSum() override { cudaEventSynchronize(added_.get()); }

  double take() override {
    add_up();
    return std::exchange(total_, 0.0);
  }
  // A sum under way ends before the next one that gets its place begins.
  void reset() override {
    num_sums_ = 0;
    total_ = 0.0;
  }

 private:
  static constexpr int kPlaces = 512;

  void add_checked(const Tensor& tensor) override {
    if (num_sums_ == kPlaces) add_up();
    issue_sum(ctx_, state_, {&tensor, 1}, SumOf::Values, sums() + num_sums_++);
    cuda_check(cudaEventRecord(added_.get(), stream_of(ctx_)));
  }
  void add_up() {
    cuda_check(cudaEventSynchronize(added_.get()));  // at once when nothing was added
    for (int i = 0; i < num_sums_; ++i) total_ += sums()[i];
    num_sums_ = 0;
  }

  double* sums() const { return static_cast<double*>(memory_.get()); }  // (kPlaces)

  SumState state_;
  PinnedMemory memory_ = allocate_pinned(kPlaces * sizeof(double));
  OwnedEvent added_ = make_event();  // when the last sum is in its place
  int num_sums_ = 0;
  double total_ = 0.0;
};

// The float nearest to d but, where d is not a float, the odd one of its two neighbours: rounding
// that to 16 or 8 bits gives what rounding d itself would, where a second rounding to even errs.
__device__ float round_to_odd(double d) {
  const float down = __double2float_rz(d);
  if (static_cast<double>(down) == d || isnan(d)) return down;
  return __uint_as_float(__float_as_uint(down) | 1u);
}

// One element of any float type, by way of float unless one of them is a double.
template <class To, class From>
__device__ __forceinline__ To convert(From from) {
  if constexpr (std::is_same_v<From, double> && !std::is_same_v<To, float>) {
    return convert<To>(round_to_odd(from));
  } else if constexpr (std::is_same_v<To, __nv_fp8_e5m2>) {
    // NVIDIA's conversion saturates infinity as well; ours keeps it (core/tensor/dtype.h).
    const float value = to_float(from);
    __nv_fp8_e5m2 result(value);
    if (isinf(value)) result.__x = static_cast<__nv_fp8_storage_t>(value < 0.0f ? 0xfc : 0x7c);
    return result;
  } else {
    return static_cast<To>(to_float(from));
  }
}

// As many elements a thread as make 16 bytes of the narrower type.
template <class From, class To>
constexpr int kCastSize = static_cast<int>(16 /
                                           (sizeof(From) < sizeof(To) ? sizeof(From) : sizeof(To)));

template <class From, class To>
__global__ void cast_kernel(const From* __restrict__ from, To* __restrict__ to, int64_t n,
                            bool aligned) {
  constexpr int kSize = kCastSize<From, To>;
  const int64_t begin = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kSize;
  if (aligned && begin + kSize <= n) {
    const auto source = load_vec<From, kSize>(from + begin);
    Vec<To, kSize> target;
#pragma unroll
    for (int i = 0; i < kSize; ++i) target.v[i] = convert<To>(source.v[i]);
    store_vec(to + begin, target);
  } else {
#pragma unroll 1
    for (int64_t i = begin; i < min(begin + kSize, n); ++i) to[i] = convert<To>(from[i]);
  }
}

}  // namespace

void sum_of_squares(Context& ctx, std::span<const Tensor> tensors, const Tensor& total) {
  issue_sum(ctx, ctx.cuda->library<SquaresState>(), tensors, SumOf::Squares, total.as<double>());
}

double sum(Context& ctx, const Tensor& tensor) {
  auto* const total = static_cast<double*>(ctx.cuda->scalars());
  issue_sum(ctx, ctx.cuda->library<ValuesState>(), {&tensor, 1}, SumOf::Values, total);
  ctx.cuda->synchronize();
  return *total;
}

std::unique_ptr<RunningSum> make_running_sum(Context& ctx) {
  return std::make_unique<CudaRunningSum>(ctx);
}

void cast(Context& ctx, const Tensor& src, const Tensor& dst) {
  if (src.dtype == dst.dtype)
    return copy(ctx, src, Tensor::contiguous(dst.data, dst.dtype, src.shape, dst.device));
  with_any_float_type(src.dtype, [&](auto from_tag) {
    with_any_float_type(dst.dtype, [&](auto to_tag) {
      using From = decltype(from_tag);
      using To = decltype(to_tag);
      if constexpr (!std::is_same_v<From, To>) {
        const auto* from = static_cast<const From*>(src.data);
        auto* to = static_cast<To*>(dst.data);
        launch({ctx, blocks_for(src.numel(), kThreads * kCastSize<From, To>), kThreads},
               cast_kernel<From, To>, from, to, src.numel(), fits_vec(from, 0) && fits_vec(to, 0));
      }
    });
  });
}

}  // namespace ingot::cuda
