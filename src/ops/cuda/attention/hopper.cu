#include "ops/cuda/attention/hopper.h"

#include <algorithm>
#include <numbers>

#include "ops/cuda/attention/hopper_keys.cuh"
#include "ops/cuda/attention/hopper_queries.cuh"
#include "ops/cuda/attention/scratch.h"
#include "ops/cuda/common/device.cuh"
#include "ops/cuda/hopper/maps.cuh"

namespace ingot::cuda {
namespace {

using hopper::kBlockTokens;
using hopper::kHeadWidth;

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

// Angles of rows b to b_end of the batch.
hopper::RopeAngles angles_of(const RopeInput& rope, int64_t b, int64_t b_end) {
  if (!rope.cos.defined()) return {};
  const bool listed = rope.positions.defined();
  const int64_t first = listed ? 0 : rope.first_position * (kHeadWidth / 2);
  return {.cos = rope.cos.as<float>() + first,
          .sin = rope.sin.as<float>() + first,
          .positions = listed ? rope.positions.slice(0, b, b_end).as<int32_t>() : nullptr,
          .pairs = rope.pairs};
}

// What a call takes of the workspace (attention/scratch.cpp counts it), for num_rows of the batch
// at a time.
struct Scratch {
  Scratch(Context& ctx, int64_t num_rows, int64_t H, int64_t T)
      : lse2(ctx.workspace.take(DType::F32, {num_rows, H, T})),
        delta(ctx.workspace.take(DType::F32, {num_rows, H, T})),
        next(ctx.workspace.take(DType::I32, {2})) {
    if (!ctx.deterministic) dq = ctx.workspace.take(DType::F32, {num_rows, H, T, kHeadWidth});
  }

  Tensor lse2, delta;  // (num_rows, H, T) F32
  Tensor next;         // (2) I32, of each kernel the blocks that were taken
  Tensor dq;           // (num_rows, H, T, 64) F32, where it is summed in any order
};

template <class Kernel, class Arguments>
void launch_on_all(Context& ctx, Kernel kernel, int shared_bytes, const Arguments& arguments,
                   int64_t num_blocks) {
  allow_shared_memory(ctx, kernel);
  const int64_t blocks = std::min<int64_t>(ctx.cuda->properties().multiProcessorCount, num_blocks);
  launch({ctx, static_cast<unsigned>(blocks), hopper::kAttentionThreads,
          static_cast<size_t>(shared_bytes)},
         kernel, arguments);
}

__nv_bfloat16* as_bf16(const Tensor& tensor) {
  return static_cast<__nv_bfloat16*>(tensor.data);
}

void set_zero(Context& ctx, const Tensor& tensor) {
  cuda_check(
      cudaMemsetAsync(tensor.data, 0, static_cast<size_t>(tensor.bytes()), ctx.cuda->stream()));
}

}  // namespace

bool hopper_attention_backward(Context& ctx, const AttentionTensors& tensors,
                               const AttentionGradients& gradients, const AttentionOptions& options,
                               const RopeInput& rope) {
  const auto& [q, k, v, out, lse] = tensors;
  const auto& [dout, dq, dk, dv] = gradients;
  const int64_t B = q.shape[0], T = q.shape[1], H = q.shape[2], G = k.shape[2];
  const bool masked =
      options.document_start.defined() || (options.window > 0 && options.window < T);
  if (!is_for_hopper(ctx.facts, q.dtype, T, q.shape[3]) || k.shape[1] != T || !options.causal ||
      masked || options.softcap > 0 || !lse.is_contiguous() || !lie_alike(out, dout) ||
      !lie_alike(dk, dv))
    return false;
  for (const Tensor* heads : {&dout, &q, &k, &v, &out, &dq, &dk, &dv})
    if (!fits(*heads)) return false;
  for (const Tensor* table : {&rope.cos, &rope.sin})
    if (!fits_vec(static_cast<const float*>(table->data), kHeadWidth / 2)) return false;

  using namespace hopper;
  const auto& maps = ctx.cuda->library<HopperMaps>();
  if (!maps.available()) return false;
  const int64_t num_rows = hopper_rows_at_once(B, T, H);
  const Workspace::Scope scope(ctx.workspace);
  const Scratch scratch(ctx, num_rows, H, T);
  // Half of the L2: k and v, and of each head q, dout and dq's sums.
  const int64_t group_bytes = T * kHeadWidth * (4 + H / G * 8);
  const int64_t groups_at_once =
      std::max<int64_t>(1, ctx.cuda->properties().l2CacheSize / 2 / group_bytes);
  const auto scale = static_cast<float>(options.scale);
  const auto scale2 = static_cast<float>(options.scale * std::numbers::log2e);
  const int T32 = static_cast<int>(T), H32 = static_cast<int>(H);

  for (int64_t b = 0; b < B; b += num_rows) {
    const int64_t b_end = std::min(B, b + num_rows), blocks = (b_end - b) * (T / kBlockTokens);
    const int rows = static_cast<int>(b_end - b);
    const auto part = [&](const Tensor& tensor) { return tensor.slice(0, b, b_end); };
    set_zero(ctx, scratch.next);
    launch({ctx, blocks_for((b_end - b) * T * 32, 256), 256}, attention_factors_kernel,
           as_bf16(part(out)), as_bf16(part(dout)), out.strides[0], out.strides[1],
           part(lse).as<float>(), rows, T32, H32, scratch.lse2.as<float>(),
           scratch.delta.as<float>());
    const AttentionInputs inputs{.q = map_of(maps, part(q)),
                                 .d_out = map_of(maps, part(dout)),
                                 .k = map_of(maps, part(k)),
                                 .v = map_of(maps, part(v)),
                                 .lse2 = scratch.lse2.as<float>(),
                                 .delta = scratch.delta.as<float>(),
                                 .B = rows,
                                 .T = T32,
                                 .H = H32,
                                 .G = static_cast<int>(G),
                                 .scale = scale,
                                 .scale2 = scale2,
                                 .rope = angles_of(rope, b, b_end)};
    auto* const next = scratch.next.as<int32_t>();
    const AttentionBackward keys{inputs,
                                 as_bf16(part(dk)),
                                 as_bf16(part(dv)),
                                 dk.strides[0],
                                 dk.strides[1],
                                 ctx.deterministic ? nullptr : scratch.dq.as<float>(),
                                 next,
                                 static_cast<int>(groups_at_once)};
    if (ctx.deterministic) {
      launch_on_all(ctx, attention_backward_kernel<false>, AttentionPlaces::kBytes, keys,
                    G * blocks);
      launch_on_all(
          ctx, attention_queries_kernel, QueryPlaces::kBytes,
          AttentionQueries{inputs, as_bf16(part(dq)), dq.strides[0], dq.strides[1], next + 1},
          H * blocks);
    } else {
      set_zero(ctx, scratch.dq);
      launch_on_all(ctx, attention_backward_kernel<true>, AttentionPlaces::kBytes, keys,
                    G * blocks);
      launch({ctx, static_cast<unsigned>(H * blocks * (kBlockTokens / kGroupTokens)), kWarpgroup},
             round_queries_kernel, keys.dq, scale, inputs.rope, T32, H32, dq.strides[0],
             dq.strides[1], as_bf16(part(dq)));
    }
  }
  return true;
}

}  // namespace ingot::cuda
