// The GPU kernels of a build without CUDA: they say so.
#include "core/error.h"
#include "ops/cuda/activation.h"
#include "ops/cuda/adamw.h"
#include "ops/cuda/attention.h"
#include "ops/cuda/embedding.h"
#include "ops/cuda/fp8.h"
#include "ops/cuda/fused_linear.h"
#include "ops/cuda/halves.h"
#include "ops/cuda/lm_head.h"
#include "ops/cuda/matmul.h"
#include "ops/cuda/memory.h"
#include "ops/cuda/muon.h"
#include "ops/cuda/random_fill.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/rms_norm.h"
#include "ops/cuda/rope.h"

namespace ingot::cuda {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::Missing,
              "this build has no CUDA kernels (no_cuda): build with ./run cuda");
}

}  // namespace

void swiglu_forward(Context&, const Tensor&, const Tensor&) {
  refuse();
}
void swiglu_backward(Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) {
  refuse();
}
void relu_squared_forward(Context&, const Tensor&, const Tensor&) {
  refuse();
}
void relu_squared_backward(Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) {
  refuse();
}
void adamw(Context&, const AdamWStep&, std::span<const AdamWTensors>) {
  refuse();
}
void attention_forward(Context&, const Tensor&, const Tensor&, const Tensor&,
                       const AttentionOptions&, const Tensor&, const Tensor&) {
  refuse();
}
bool attention_rope_backward(Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                             const Tensor&, const Tensor&, const AttentionOptions&,
                             const RopeInput&, const Tensor&, const Tensor&, const Tensor&) {
  refuse();
}
void attention_backward(Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                        const Tensor&, const Tensor&, const AttentionOptions&, const Tensor&,
                        const Tensor&, const Tensor&) {
  refuse();
}
int64_t attention_workspace_bytes(const Context&, DType, int64_t, int64_t, int64_t, int64_t,
                                  int64_t, int64_t, AttentionCalls) {
  refuse();
}
bool linear_swiglu_forward(Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) {
  refuse();
}
bool linear_swiglu_backward(Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                            const Tensor&, bool) {
  refuse();
}
bool linear_rope_forward(Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         const Tensor&, const Tensor&, RopePairs, const Tensor&, int64_t) {
  refuse();
}
void embedding_forward(Context&, const Tensor&, const Tensor&, const Tensor&) {
  refuse();
}
void embedding_backward(Context&, const Tensor&, const Tensor&, const Tensor&) {
  refuse();
}
int64_t embedding_backward_workspace_bytes(int64_t, int64_t) {
  refuse();
}
void quantize(Context&, const Tensor&, const Quantized&) {
  refuse();
}
void quantize_by_own_scale(Context&, const Tensor&, const Quantized&) {
  refuse();
}
void update_scales(Context&, DType, const ScaleState&) {
  refuse();
}
void rms_norm_forward_fp8(Context&, const Tensor&, const Tensor&, double, const Quantized&,
                          const Tensor&) {
  refuse();
}
void rms_norm_backward_fp8(Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                           const Tensor&, bool, const Tensor&, const Quantized&, const Quantized&) {
  refuse();
}
void swiglu_forward_fp8(Context&, const Tensor&, const Quantized&) {
  refuse();
}
void relu_squared_forward_fp8(Context&, const Tensor&, const Quantized&) {
  refuse();
}
void swiglu_backward_fp8(Context&, const Tensor&, const Tensor&, const Quantized&,
                         const Quantized&) {
  refuse();
}
void relu_squared_backward_fp8(Context&, const Tensor&, const Tensor&, const Quantized&,
                               const Quantized&) {
  refuse();
}
void matmul_fp8(Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                bool, const void*, bool) {
  refuse();
}
void cross_entropy(Context&, const Tensor&, const Tensor&, const LossOptions&, const Tensor&) {
  refuse();
}
void cross_entropy_gradient(Context&, const Tensor&, const Tensor&, const LossOptions&, double,
                            const Tensor&) {
  refuse();
}
void matmul(Context&, const cpu::Gemm&) {
  refuse();
}
int64_t matmul_workspace_bytes(const Context&) {
  refuse();
}
void zero(Context&, const Tensor&) {
  refuse();
}
void fill(Context&, float, const Tensor&) {
  refuse();
}
void copy_from_host(Context&, const void*, const Tensor&) {
  refuse();
}
void copy_to_host(Context&, const Tensor&, void*) {
  refuse();
}
void add(Context&, const Tensor&, const Tensor&) {
  refuse();
}
void copy(Context&, const Tensor&, const Tensor&) {
  refuse();
}
void muon_momentum(Context&, double, double, const Tensor&, const Tensor&, const Tensor&,
                   const Tensor&) {
  refuse();
}
void muon_normalize(Context&, const Tensor&, double, const Tensor&) {
  refuse();
}
void muon_polynomial(Context&, const MuonPolynomial&, const Tensor&, const Tensor&, const Tensor&) {
  refuse();
}
void muon_apply(Context&, double, double, const Tensor&, const Tensor&) {
  refuse();
}
void split_halves(Context&, const Tensor&, const Tensor&, const Tensor&) {
  refuse();
}
void join_halves(Context&, const Tensor&, const Tensor&, const Tensor&) {
  refuse();
}
void fill_normal(Context&, const RandomStream&, uint64_t, float, const Tensor&) {
  refuse();
}
double sum_of(Context&, std::span<const Tensor>, cpu::SumOf) {
  refuse();
}
std::unique_ptr<RunningSum> make_running_sum(Context&) {
  refuse();
}
void cast(Context&, const Tensor&, const Tensor&) {
  refuse();
}
void rms_norm_forward(Context&, const Tensor&, const Tensor&, double, const Tensor&,
                      const Tensor&) {
  refuse();
}
void rms_norm_backward(Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                       const Tensor&, bool, const Tensor&, const Tensor&) {
  refuse();
}
int64_t rms_norm_backward_workspace_bytes(const Context&, int64_t, int64_t) {
  refuse();
}
void rope(Context&, const Tensor&, const Tensor&, const Tensor&, RopePairs, const int32_t*, int64_t,
          cpu::Rotation) {
  refuse();
}

}  // namespace ingot::cuda
