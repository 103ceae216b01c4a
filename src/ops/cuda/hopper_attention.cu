#include "ops/cuda/hopper_attention.h"

#include <algorithm>

#include "ops/cuda/device.cuh"
#include "ops/cuda/hopper_attention.cuh"
#include "ops/cuda/hopper_maps.cuh"

namespace ingot::cuda {
namespace {

using hopper::kBlockTokens;
using hopper::kHeadWidth;

// What dq's sums may take before the batch is cut, as for cuDNN's workspace.
constexpr int64_t kPieceBytes = int64_t{1} << 30;

int64_t rows_at_once(int64_t B, int64_t T, int64_t H) {
  return std::clamp<int64_t>(kPieceBytes / (H * T * kHeadWidth * size_of(DType::F32)), 1, B);
}

// heads(B, T, n, 64): heads side by side, at addresses and distances the copy unit takes.
bool fits(const Tensor& heads) {
  return heads.dtype == DType::BF16 && heads.strides[3] == 1 && heads.strides[2] == kHeadWidth &&
         heads.strides[0] % 8 == 0 &&
         fits_vec(static_cast<const __nv_bfloat16*>(heads.data), heads.strides[1]);
}

bool lie_alike(const Tensor& a, const Tensor& b) {
  return a.strides[0] == b.strides[0] && a.strides[1] == b.strides[1];
}

// (B, n, T, 64), in boxes of kBlockTokens.
CUtensorMap map_of(const HopperMaps& maps, const Tensor& heads) {
  return maps.map<4>(heads, {kHeadWidth, heads.shape[1], heads.shape[2], heads.shape[0]},
                     {heads.strides[1], kHeadWidth, heads.strides[0]},
                     {kHeadWidth, kBlockTokens, 1, 1});
}

}  // namespace

bool hopper_attention_backward(Context& ctx, const Tensor& dout, const Tensor& q, const Tensor& k,
                               const Tensor& v, const Tensor& out, const Tensor& lse,
                               const AttentionOptions& options, const Tensor& dq, const Tensor& dk,
                               const Tensor& dv) {
  const auto& maps = ctx.cuda->library<HopperMaps>();
  const int64_t B = q.shape[0], T = q.shape[1], H = q.shape[2], D = q.shape[3];
  const int64_t G = k.shape[2];
  const bool masked = options.document_start.defined() || (options.window > 0 && options.window < T);
  const bool is_for_it = maps.available() && !ctx.deterministic && D == kHeadWidth &&
                         k.shape[1] == T && T % kBlockTokens == 0 && options.causal && !masked &&
                         lse.is_contiguous() && lie_alike(out, dout) && lie_alike(dk, dv);
  if (!is_for_it) return false;
  for (const Tensor* heads : {&dout, &q, &k, &v, &out, &dq, &dk, &dv})
    if (!fits(*heads)) return false;

  using namespace hopper;
  const int64_t num_rows = rows_at_once(B, T, H);
  const Workspace::Scope scope(ctx.workspace);
  const Tensor sums = ctx.workspace.take(DType::F32, {num_rows, H, T, kHeadWidth});
  const Tensor lse2 = ctx.workspace.take(DType::F32, {num_rows, H, T});
  const Tensor delta = ctx.workspace.take(DType::F32, {num_rows, H, T});
  const auto as_bf16 = [](const Tensor& t) { return static_cast<__nv_bfloat16*>(t.data); };
  const cudaDeviceProp& gpu = ctx.cuda->properties();
  cuda_check(cudaFuncSetAttribute(attention_backward_kernel,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  AttentionPlaces::kBytes));
  // Half of the L2: k and v, and of each head q, dout and dq's sums.
  const int64_t group_bytes = T * kHeadWidth * (4 + H / G * 8);
  const int64_t groups_at_once = std::max<int64_t>(1, gpu.l2CacheSize / 2 / group_bytes);

  for (int64_t b = 0; b < B; b += num_rows) {
    const int64_t rows = std::min(num_rows, B - b);
    const auto part = [&](const Tensor& tensor) { return tensor.slice(0, b, b + rows); };
    cuda_check(cudaMemsetAsync(sums.data, 0, static_cast<size_t>(rows * H * T * kHeadWidth * 4),
                               ctx.cuda->stream()));
    launch({ctx, blocks_for(rows * T * 32, 256), 256}, attention_factors_kernel, as_bf16(part(out)),
           as_bf16(part(dout)), out.strides[0], out.strides[1], part(lse).as<float>(),
           static_cast<int>(rows), static_cast<int>(T), static_cast<int>(H), lse2.as<float>(),
           delta.as<float>());
    const AttentionBackward arguments{.q = map_of(maps, part(q)),
                                      .d_out = map_of(maps, part(dout)),
                                      .k = map_of(maps, part(k)),
                                      .v = map_of(maps, part(v)),
                                      .lse2 = lse2.as<float>(),
                                      .delta = delta.as<float>(),
                                      .dq = sums.as<float>(),
                                      .dk = as_bf16(part(dk)),
                                      .dv = as_bf16(part(dv)),
                                      .d_row = dk.strides[0],
                                      .d_token = dk.strides[1],
                                      .B = static_cast<int>(rows),
                                      .T = static_cast<int>(T),
                                      .H = static_cast<int>(H),
                                      .G = static_cast<int>(G),
                                      .groups_at_once = static_cast<int>(groups_at_once),
                                      .scale = static_cast<float>(options.scale),
                                      .scale2 = static_cast<float>(options.scale * std::numbers::log2e)};
    const int64_t blocks =
        std::min<int64_t>(gpu.multiProcessorCount, rows * G * (T / kBlockTokens));
    launch({ctx, static_cast<unsigned>(blocks), kAttentionThreads, AttentionPlaces::kBytes},
           attention_backward_kernel, arguments);
    launch({ctx, static_cast<unsigned>(rows * H * (T / kGroupTokens)), kWarpgroup},
           round_queries_kernel, sums.as<float>(), arguments.scale, static_cast<int>(T),
           static_cast<int>(H), dq.strides[0], dq.strides[1], as_bf16(part(dq)));
  }
  return true;
}

int64_t hopper_attention_workspace_bytes(int64_t B, int64_t T, int64_t H, int64_t D) {
  if (D != kHeadWidth) return 0;
  const int64_t heads_bytes = rows_at_once(B, T, H) * H * T * size_of(DType::F32);
  return align_up(heads_bytes * kHeadWidth) + 2 * align_up(heads_bytes);  // dq; lse2 and delta
}

}  // namespace ingot::cuda
