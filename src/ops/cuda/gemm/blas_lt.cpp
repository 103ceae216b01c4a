#include "ops/cuda/gemm/blas_lt.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <source_location>
#include <utility>

#include "core/cuda/launch.h"
#include "core/cuda/owners.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "ops/cuda/gemm/thin.h"
#include "ops/kernels/fp8.h"
#include "ops/kernels/matmul.h"

namespace ingot::cuda {
namespace {

constexpr int kMaxCandidates = 24;
constexpr double kMinTunedMultiplyAdds = 1e8;  // a µs of work: below, launching decides
constexpr int kTimedRuns = 3;
constexpr double kTimedMultiplyAdds = 1e11;  // some 300 µs: less is launched several times in a run
constexpr int kWakingRuns = 5;               // before the first timed one: clocks rise from idle
constexpr double kHopeless = 1.3;            // × the best: not timed again
constexpr double kAsGood = 1.01;             // × the best: noise, cuBLASLt's own order decides
constexpr size_t kFullAlignment = 256, kUsefulAlignment = 16;  // bytes

// `about`: anything fmt prints, formatted only on failure.
template <class About>
void check_blas(cublasStatus_t status, const About& about,
                std::source_location place = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]]
    return;
  throw Error(ErrorCode::Device,
              fmt::format("cuBLASLt: {} ({}): {}", cublasLtGetStatusString(status),
                          cublasLtGetStatusName(status), about),
              place);
}

cudaDataType_t data_type_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return CUDA_R_32F;
    case DType::BF16:
      return CUDA_R_16BF;
    case DType::F16:
      return CUDA_R_16F;
    case DType::F8E4M3:
      return CUDA_R_8F_E4M3;
    case DType::F8E5M2:
      return CUDA_R_8F_E5M2;
    default:
      throw Error(ErrorCode::Internal,
                  fmt::format("no product of {} goes to cuBLASLt", name_of(dtype)));
  }
}

template <class T>
void set_attribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
                   T value, const GemmKey& key) {
  check_blas(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value), key);
}

template <class T>
void set_attribute(cublasLtMatmulPreference_t preference,
                   cublasLtMatmulPreferenceAttributes_t attribute, T value, const GemmKey& key) {
  check_blas(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
             key);
}

struct FreeDeviceMemory {
  void operator()(void* data) const { cudaFree(data); }
};
using DeviceMemory = std::unique_ptr<void, FreeDeviceMemory>;

// Null when there is no room.
DeviceMemory try_allocate(int64_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, static_cast<size_t>(bytes));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // an error that was answered must not meet the next check
    return nullptr;
  }
  cuda_check(status);
  return DeviceMemory(data);
}

// Memory for trying out algorithms, so that the GEMM's own c is not changed before the chosen
// algorithm computes it.
class TrialBuffers {
 public:
  TrialBuffers(Context& ctx, const GemmKey& key, const GemmBuffers& real) : buffers_(real) {
    const int64_t a_count = (key.a_transposed ? key.K : key.M) * key.a_stride;
    const int64_t b_count = (key.b_transposed ? key.N : key.K) * key.b_stride;
    const int64_t c_count = key.M * key.c_stride;
    const int64_t a_bytes = align_up(a_count * size_of(key.a_dtype));
    const int64_t b_bytes = align_up(b_count * size_of(key.b_dtype));
    const int64_t c_bytes = align_up(c_count * size_of(key.c_dtype));
    if ((memory_ = try_allocate(a_bytes + b_bytes + c_bytes))) {
      char* const a = static_cast<char*>(memory_.get());
      fill_noise(ctx, key.a_dtype, a_count, a);
      fill_noise(ctx, key.b_dtype, b_count, a + a_bytes);
      fill_noise(ctx, key.c_dtype, c_count, a + a_bytes + b_bytes);
      buffers_.a = a;
      buffers_.b = a + a_bytes;
      buffers_.c = a + a_bytes + b_bytes;
      buffers_.addend = nullptr;
    } else if (key.accumulate && real.addend == nullptr) {
      // The operands themselves are only read; what would be added to c goes elsewhere.
      memory_ = try_allocate(c_bytes);
      usable_ = memory_ != nullptr;
      if (usable_) fill_noise(ctx, key.c_dtype, c_count, memory_.get());
      buffers_.c = memory_.get();
    }
    // Else even c serves: every trial overwrites it with the result that is wanted there anyway.
  }

  bool usable() const { return usable_; }
  const GemmBuffers& get() const { return buffers_; }

 private:
  DeviceMemory memory_;
  GemmBuffers buffers_;
  bool usable_ = true;
};

class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {}

  template <class F>
  double microseconds(const F& f) {
    cuda_check(cudaEventRecord(begin_.get(), stream_));
    f();
    cuda_check(cudaEventRecord(end_.get(), stream_));
    cuda_check(cudaEventSynchronize(end_.get()));
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  cudaStream_t stream_;
  OwnedEvent begin_ = make_timing_event(), end_ = make_timing_event();
};

double num_multiply_adds(const GemmKey& key) {
  return static_cast<double>(key.M) * static_cast<double>(key.N) * static_cast<double>(key.K);
}

bool is_large(const GemmKey& key) {
  return num_multiply_adds(key) >= kMinTunedMultiplyAdds;
}

std::string choice_name(const GemmKey& key) {
  return fmt::format("algorithm of {} ({:x})", key, GemmKeyHash{}(key));
}

// Only what algorithms distinguish, so that equal GEMMs at different addresses share a plan: TMA
// and 16-byte loads need 16; everything in an arena has 256, cuBLASLt's default.
uint16_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (address % kFullAlignment == 0) return kFullAlignment;
  return static_cast<uint16_t>(std::min(address & (~address + 1), kUsefulAlignment));
}

// Of what is written and what is added to it.
uint16_t alignment_of(const void* c, const void* addend) {
  return addend == nullptr ? alignment_of(c) : std::min(alignment_of(c), alignment_of(addend));
}

GemmKey key_of(const Context& ctx, const Gemm& gemm) {
  const bool tf32 = ctx.tf32 && gemm.a.dtype == DType::F32;
  return {.M = gemm.M,
          .N = gemm.N,
          .K = gemm.K,
          .a_stride = gemm.a.stride,
          .b_stride = gemm.b.stride,
          .c_stride = gemm.c_stride,
          .a_dtype = gemm.a.dtype,
          .b_dtype = gemm.b.dtype,
          .c_dtype = gemm.c_dtype,
          .a_transposed = gemm.a.transposed,
          .b_transposed = gemm.b.transposed,
          .accumulate = gemm.accumulate,
          .math = tf32 ? GemmMath::Tf32 : GemmMath::Full,
          .a_alignment = alignment_of(gemm.a.data),
          .b_alignment = alignment_of(gemm.b.data),
          .c_alignment = alignment_of(gemm.c, gemm.addend)};
}

// Whether cuBLASLt has the combination of dtypes (its table of cublasLtMatmul for
// CUBLAS_COMPUTE_32F) and can express the extents.
bool blas_takes(const Gemm& gemm) {
  const DType in = gemm.a.dtype, out = gemm.c_dtype;
  const bool dtypes =
      gemm.b.dtype == in &&
      ((in == DType::F32 && out == in) ||
       ((in == DType::BF16 || in == DType::F16) && (out == in || out == DType::F32)));
  const int64_t a_width = gemm.a.transposed ? gemm.M : gemm.K;
  const int64_t b_width = gemm.b.transposed ? gemm.K : gemm.N;
  const bool strides =
      gemm.a.stride >= a_width && gemm.b.stride >= b_width && gemm.c_stride >= gemm.N;
  return dtypes && strides && gemm.K > 0 &&
         std::max({gemm.M, gemm.N, gemm.K}) <= std::numeric_limits<int32_t>::max();
}

}  // namespace

BlasLt::BlasLt(CudaContext& cuda)
    : gpu_(cuda.properties().name), tuned_(cuda.cache_dir(), gpu_, cublasLtGetVersion()) {
  cublasLtHandle_t handle = nullptr;
  check_blas(cublasLtCreate(&handle), "a handle was asked for");
  handle_.reset(handle);
}

bool BlasLt::matmul(Context& ctx, const GemmKey& key, const GemmBuffers& buffers) {
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    found = plans_.emplace(key, make_plan(ctx, key, buffers)).first;
  }
  const Plan& plan = found->second;
  if (!plan.algorithm) return false;
  check_blas(run(ctx, key, plan, *plan.algorithm, buffers), key);
  return true;
}

// Row-major matrices are column-major ones transposed: with cᵀ = bᵀ·aᵀ nothing needs turning, and
// cuBLASLt's A is our b, its B our a.
cublasStatus_t BlasLt::run(Context& ctx, const GemmKey& key, const Plan& plan,
                           const Algorithm& algorithm, const GemmBuffers& buffers) {
  cublasLtMatmulDesc_t operation = plan.operation.get();
  if (size_of(key.a_dtype) == 1) {
    set_attribute(operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, buffers.b_scale, key);
    set_attribute(operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, buffers.a_scale, key);
  }
  const Workspace::Scope scope(ctx.workspace);
  void* workspace = nullptr;
  if (algorithm.workspace_bytes > 0) {
    workspace = ctx.workspace.take(DType::U8, {algorithm.workspace_bytes}).data;
  }
  const float alpha = 1, beta = key.accumulate ? 1 : 0;
  return cublasLtMatmul(handle_.get(), operation, &alpha, buffers.b, plan.b.get(), buffers.a,
                        plan.a.get(), &beta, buffers.addend != nullptr ? buffers.addend : buffers.c,
                        plan.c.get(), buffers.c, plan.c.get(), &algorithm.config, workspace,
                        static_cast<size_t>(algorithm.workspace_bytes), stream_of(ctx));
}

BlasLt::Layout BlasLt::make_layout(const GemmKey& key, DType dtype, int64_t stored_rows,
                                   int64_t stored_cols, int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  check_blas(
      cublasLtMatrixLayoutCreate(&layout, data_type_of(dtype), static_cast<uint64_t>(stored_cols),
                                 static_cast<uint64_t>(stored_rows), stride),
      key);
  return Layout(layout);
}

BlasLt::Plan BlasLt::make_plan(Context& ctx, const GemmKey& key, const GemmBuffers& buffers) {
  const auto compute =
      key.math == GemmMath::Tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const auto transpose = [](bool stored_transposed) {
    return static_cast<int32_t>(stored_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  };
  cublasLtMatmulDesc_t operation = nullptr;
  check_blas(cublasLtMatmulDescCreate(&operation, compute, CUDA_R_32F), key);
  Plan plan;
  plan.operation.reset(operation);
  set_attribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, transpose(key.b_transposed), key);
  set_attribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, transpose(key.a_transposed), key);
  if (key.math == GemmMath::FastFp8) {
    set_attribute(operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t{1}, key);
  }
  plan.a = key.a_transposed ? make_layout(key, key.a_dtype, key.K, key.M, key.a_stride)
                            : make_layout(key, key.a_dtype, key.M, key.K, key.a_stride);
  plan.b = key.b_transposed ? make_layout(key, key.b_dtype, key.N, key.K, key.b_stride)
                            : make_layout(key, key.b_dtype, key.K, key.N, key.b_stride);
  plan.c = make_layout(key, key.c_dtype, key.M, key.N, key.c_stride);
  plan.algorithm = choose(ctx, key, plan, buffers);
  return plan;
}

// For large GEMMs all ranks use rank 0's algorithm. For a small one cuBLASLt's heuristic gives the
// same answer on all ranks.
std::optional<BlasLt::Algorithm> BlasLt::choose(Context& ctx, const GemmKey& key, const Plan& plan,
                                                const GemmBuffers& buffers) {
  const auto chosen = select(ctx, key, plan, buffers);
  if (ctx.choices == nullptr || !is_large(key)) return chosen;
  std::string told;  // empty where there is no algorithm: nobody need wait for one
  if (chosen) {
    const TunedGemm tuned{std::bit_cast<std::array<uint64_t, 8>>(chosen->config), 0.0};
    told = gpu_ + '\n' + format_tuned({{key, tuned}}, cublasLtGetVersion());
  }
  ctx.choices->tell(choice_name(key), told);
  return chosen;
}

std::optional<BlasLt::Algorithm> BlasLt::select(Context& ctx, const GemmKey& key, const Plan& plan,
                                                const GemmBuffers& buffers) {
  if (const auto known = remembered(ctx, key, plan)) {
    if (log::is_verbose()) log::debug("product tuned before", {{"product", key.str()}});
    return known;
  }
  const std::vector<Algorithm> found = propose(key, plan);
  if (found.empty()) {
    // Right but many times slower than what was hoped for: worth a line in the log.
    if (is_large(key)) log::warn("cuBLASLt has no kernel", {{"product", key.str()}});
    return std::nullopt;
  }
  if (is_large(key) && found.size() > 1) return fastest(ctx, key, plan, found, buffers);
  if (log::is_verbose())
    log::debug("product not tuned", {{"product", key.str()}, {"algorithm", "cuBLASLt's first"}});
  return found.front();
}

std::optional<BlasLt::Algorithm> BlasLt::remembered(const Context& ctx, const GemmKey& key,
                                                    const Plan& plan) {
  if (ctx.choices != nullptr && is_large(key))
    if (const auto told = heard(*ctx.choices, key))
      if (const auto usable = checked(*told, key, plan)) return usable;
  const TunedGemm* tuned = tuned_.find(key);
  return tuned == nullptr ? std::nullopt : checked(*tuned, key, plan);
}

// Nothing where rank 0 has another GPU or library: what is best there says nothing of here.
std::optional<TunedGemm> BlasLt::heard(SharedChoices& choices, const GemmKey& key) {
  const auto text = choices.ask(choice_name(key));
  if (!text) return std::nullopt;
  const size_t line = text->find('\n');
  if (line == std::string::npos || text->substr(0, line) != gpu_) return std::nullopt;
  try {
    const TunedGemms told = parse_tuned(text->substr(line + 1), cublasLtGetVersion());
    const auto found = told.find(key);
    return found == told.end() ? std::nullopt : std::optional(found->second);
  } catch (const Error& error) {
    log::debug("rank 0's algorithm is not taken", {{"why", error.what()}});
    return std::nullopt;
  }
}

std::optional<BlasLt::Algorithm> BlasLt::checked(const TunedGemm& tuned, const GemmKey& key,
                                                 const Plan& plan) {
  const auto config = std::bit_cast<cublasLtMatmulAlgo_t>(tuned.algorithm);
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(handle_.get(), plan.operation.get(), plan.b.get(), plan.a.get(),
                              plan.c.get(), plan.c.get(), &config, &result);
  const auto workspace_bytes = static_cast<int64_t>(result.workspaceSize);
  if (status != CUBLAS_STATUS_SUCCESS || workspace_bytes > kMatmulWorkspaceBytes) {
    log::debug("tuned algorithm refused",
               {{"product", key.str()}, {"why", cublasLtGetStatusString(status)}});
    return std::nullopt;
  }
  return Algorithm{config, workspace_bytes};
}

// In the order of cuBLASLt's own estimate, the best first.
std::vector<BlasLt::Algorithm> BlasLt::propose(const GemmKey& key, const Plan& plan) {
  cublasLtMatmulPreference_t preference = nullptr;
  check_blas(cublasLtMatmulPreferenceCreate(&preference), key);
  const Preference owner(preference);
  set_attribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                static_cast<uint64_t>(kMatmulWorkspaceBytes), key);
  // Parts of a split sum are kept and added in F32, in a step of their own: never in c's BF16, and
  // never by whoever comes first.
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  if (key.c_dtype == DType::F32) reductions |= CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  set_attribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions, key);
  const auto align = [&](cublasLtMatmulPreferenceAttributes_t attribute, uint32_t bytes) {
    set_attribute(preference, attribute, bytes, key);
  };
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.b_alignment);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.a_alignment);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.c_alignment);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.c_alignment);

  std::vector<cublasLtMatmulHeuristicResult_t> results(kMaxCandidates);
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_.get(), plan.operation.get(), plan.b.get(), plan.a.get(), plan.c.get(), plan.c.get(),
      preference, kMaxCandidates, results.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  check_blas(status, key);
  results.resize(static_cast<size_t>(count));
  std::vector<Algorithm> algorithms;
  for (const auto& result : results) {
    if (result.state != CUBLAS_STATUS_SUCCESS) continue;
    algorithms.push_back({result.algo, static_cast<int64_t>(result.workspaceSize)});
  }
  return algorithms;
}

BlasLt::Algorithm BlasLt::fastest(Context& ctx, const GemmKey& key, const Plan& plan,
                                  const std::vector<Algorithm>& candidates,
                                  const GemmBuffers& buffers) {
  const auto keep = [&](const Algorithm& chosen, double time_us) {
    tuned_.put(key, {std::bit_cast<std::array<uint64_t, 8>>(chosen.config), time_us});
    return chosen;
  };
  const TrialBuffers trial(ctx, key, buffers);
  // Kept though nothing was timed: a resumed run must not find room and then another algorithm.
  if (!trial.usable()) {
    log::warn("no memory to time a product: cuBLASLt's first proposal is kept for it",
              {{"product", key.str()}});
    return keep(candidates.front(), 0.0);
  }
  const auto runs = [&](size_t i) {
    return run(ctx, key, plan, candidates[i], trial.get()) == CUBLAS_STATUS_SUCCESS;
  };
  Stopwatch stopwatch(stream_of(ctx));
  const int launches =
      static_cast<int>(std::clamp(kTimedMultiplyAdds / num_multiply_adds(key), 1.0, 20.0));
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> microseconds(candidates.size(), kNever);
  double best = kNever;
  const auto time_run = [&](size_t i) {
    const double now = stopwatch.microseconds([&] {
      for (int launch = 0; launch < launches; ++launch) runs(i);
    });
    microseconds[i] = std::min(microseconds[i], now / launches);
    best = std::min(best, microseconds[i]);
  };
  for (int i = 0; i < kWakingRuns; ++i) runs(0);
  for (size_t i = 0; i < candidates.size(); ++i) {
    // Once without the clock: a kernel's code is loaded when it is first run.
    if (runs(i)) time_run(i);
  }
  if (best == kNever) return candidates.front();  // whose own run will say what is wrong
  for (int pass = 1; pass < kTimedRuns; ++pass) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (microseconds[i] <= kHopeless * best) time_run(i);
    }
  }
  const auto chosen =
      static_cast<size_t>(std::find_if(microseconds.begin(), microseconds.end(),
                                       [&](double time_us) { return time_us <= kAsGood * best; }) -
                          microseconds.begin());
  log::debug("product tuned",
             {{"product", key.str()},
              {"algorithm", fmt::format("{} of {}", chosen + 1, candidates.size())},
              {"us", fmt::format("{:.1f}", microseconds[chosen])},
              {"first_us", fmt::format("{:.1f}", microseconds[0])}});
  return keep(candidates[chosen], microseconds[chosen]);
}

void matmul(Context& ctx, const Gemm& gemm) {
  if (gemm.M == 0 || gemm.N == 0 || thin_gemm(ctx, gemm)) return;
  const bool done = blas_takes(gemm) &&
                    ctx.cuda->library<BlasLt>().matmul(
                        ctx, key_of(ctx, gemm),
                        {.a = gemm.a.data, .b = gemm.b.data, .c = gemm.c, .addend = gemm.addend});
  if (!done) plain_gemm(ctx, gemm);
}

void matmul_fp8(Context& ctx, const Fp8Gemm& gemm) {
  const auto& [a, a_inverse, b, b_inverse, c, accumulate, addend, fast] = gemm;
  if (c.numel() == 0) return;
  const GemmKey key{.M = c.shape[0],
                    .N = c.shape[1],
                    .K = a.shape[1],
                    .a_stride = a.strides[0],
                    .b_stride = b.strides[0],
                    .c_stride = c.strides[0],
                    .a_dtype = a.dtype,
                    .b_dtype = b.dtype,
                    .c_dtype = c.dtype,
                    .b_transposed = true,
                    .accumulate = accumulate,
                    .math = fast ? GemmMath::FastFp8 : GemmMath::Full,
                    .a_alignment = alignment_of(a.data),
                    .b_alignment = alignment_of(b.data),
                    .c_alignment = alignment_of(c.data, addend)};
  const GemmBuffers buffers{.a = a.data,
                            .b = b.data,
                            .c = c.data,
                            .addend = addend,
                            .a_scale = static_cast<const float*>(a_inverse.data),
                            .b_scale = static_cast<const float*>(b_inverse.data)};
  if (!ctx.cuda->library<BlasLt>().matmul(ctx, key, buffers))
    throw Error(ErrorCode::Missing,
                fmt::format("cuBLASLt has no 8-bit kernel for {} on this GPU ({}): train with "
                            "train.precision = \"bf16\"",
                            key.str(), ctx.cuda->properties().name));
}

}  // namespace ingot::cuda
