// GEMMs through NVIDIA's cuBLASLt. Descriptors are built once per kind of GEMM; the algorithm of a
// large one is chosen by timing (docs/ops-cuda-matmul.md).
#pragma once

#include <cublasLt.h>

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/cuda/cuda_context.h"
#include "ops/common/gemm.h"
#include "ops/cuda/gemm/tuning_cache.h"

namespace ingot::cuda {

// Addresses of a GEMM's matrices.
struct GemmBuffers {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const void* addend = nullptr;  // added instead of c; null: c
  // Device scalars that 8-bit operands are multiplied by; null: 1. Read by the kernel.
  const float* a_scale = nullptr;
  const float* b_scale = nullptr;
};

// One per CudaContext: ctx.cuda->library<BlasLt>().
class BlasLt {
 public:
  explicit BlasLt(CudaContext& cuda);

  // False: cuBLASLt has no algorithm for this, and nothing was done. The first GEMM of its kind is
  // slow: it may wait for the stream and time algorithms, in memory of its own.
  bool matmul(Context& ctx, const GemmKey& key, const GemmBuffers& buffers);

 private:
  template <auto destroy>
  struct Destroy {
    template <class T>
    void operator()(T* thing) const {
      destroy(thing);
    }
  };
  using Handle = std::unique_ptr<cublasLtContext, Destroy<cublasLtDestroy>>;
  using Operation = std::unique_ptr<cublasLtMatmulDescOpaque_t, Destroy<cublasLtMatmulDescDestroy>>;
  using Layout =
      std::unique_ptr<cublasLtMatrixLayoutOpaque_t, Destroy<cublasLtMatrixLayoutDestroy>>;
  using Preference =
      std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, Destroy<cublasLtMatmulPreferenceDestroy>>;

  struct Algorithm {
    cublasLtMatmulAlgo_t config{};
    int64_t workspace_bytes = 0;
  };
  struct Plan {
    Operation operation;
    Layout a, b, c;  // of the matrices of the same name in GemmKey
    std::optional<Algorithm> algorithm;
  };

  static Layout make_layout(const GemmKey& key, DType dtype, int64_t stored_rows,
                            int64_t stored_cols, int64_t stride);
  Plan make_plan(Context& ctx, const GemmKey& key, const GemmBuffers& buffers);
  std::optional<Algorithm> choose(Context& ctx, const GemmKey& key, const Plan& plan,
                                  const GemmBuffers& buffers);
  // Rank 0's algorithm, or the one in the file; nothing if there is neither or cuBLASLt rejects it.
  std::optional<Algorithm> remembered(const Context& ctx, const GemmKey& key, const Plan& plan);
  std::optional<TunedGemm> heard(SharedChoices& choices, const GemmKey& key);
  std::optional<Algorithm> checked(const TunedGemm& tuned, const GemmKey& key, const Plan& plan);
  std::optional<Algorithm> select(Context& ctx, const GemmKey& key, const Plan& plan,
                                  const GemmBuffers& buffers);
  std::vector<Algorithm> propose(const GemmKey& key, const Plan& plan);
  Algorithm fastest(Context& ctx, const GemmKey& key, const Plan& plan,
                    const std::vector<Algorithm>& candidates, const GemmBuffers& buffers);
  cublasStatus_t run(Context& ctx, const GemmKey& key, const Plan& plan, const Algorithm& algorithm,
                     const GemmBuffers& buffers);

  std::string gpu_;
  Handle handle_;
  TuningCache tuned_;
  std::unordered_map<GemmKey, Plan, GemmKeyHash> plans_;
};

// Our own kernels, in matmul.cu.

// Any GEMM with any strides, each operand F64, F32, BF16 or F16: correct, not fast.
void plain_gemm(Context& ctx, const Gemm& gemm);
// `count` pseudo-random elements of [-1, 1]. Multiplying zeros draws less power, so that clocks
// rise and every algorithm seems faster than it is.
void fill_noise(Context& ctx, DType dtype, int64_t count, void* data);

}  // namespace ingot::cuda
