#include "spec/rows/transformer_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ingot {
namespace {

template <class Row>
std::vector<Row> existing(std::vector<Row> rows) {
  std::erase_if(rows, [](const Row& row) { return !row.exists; });
  return rows;
}

}  // namespace

TensorSpec spec_of(std::string name, Shape shape, DType dtype, TensorKind kind) {
  TensorSpec spec;
  spec.name = std::move(name);
  spec.shape = shape;
  spec.dtype = dtype;
  spec.kind = kind;
  return spec;
}

TensorSpec activation_of(std::string name, Shape shape, DType dtype, Lifetime life) {
  TensorSpec spec = spec_of(std::move(name), shape, dtype, TensorKind::Activation);
  spec.lives = {life};
  return spec;
}

std::string shared_name(std::string_view what) {
  return "shared." + std::string(what);
}

std::vector<LayerRow> layer_rows(const ModelConfig& c, int64_t B, int64_t T, DType compute,
                                 bool fp8) {
  using enum Recompute;
  const int64_t N = B * T, C = c.dim, H = c.heads, G = c.kv_heads, D = c.head_dim, F = c.ffn;
  const DType acc = accumulation_dtype(compute);
  const bool before = c.norm_before(), after = c.norm_after();
  // Under fp8 a GEMM's input exists in 8 bits only, except LayerNorm's output, from which they are
  // made, and act, whose memory also takes its gradient.
  const bool normed = before && (!fp8 || c.norm == NormKind::Layer);
  const bool per_head = c.qk_norm_span == QkNormSpan::Head;
  const Recompute one_pass = fp8 ? Always : Selective;  // costs one pass over memory
  return existing<LayerRow>({
      // name, shape, dtype, exists, recompute
      {"residual", {N, C}, compute, true, Never},
      {"attn_rstd", {N}, acc, before, Full},
      {"qkv", {N, c.qkv_rows()}, compute, true, Full},
      {"attn", {N, H * D}, compute, true, Full},
      {"lse", {B, H, T}, acc, true, Full},
      {"mid", {N, C}, compute, true, Full},
      {"mlp_rstd", {N}, acc, before, Full},
      {"up", {N, c.up_rows()}, compute, true, Full},
      {"act", {N, F}, compute, true, one_pass},
      {"attn_norm", {N, C}, compute, normed, one_pass},
      {"mlp_norm", {N, C}, compute, normed, one_pass},
      {"qk", {N, (H + G) * D}, compute, c.qk_norm, Full},
      {"q_rstd", per_head ? Shape{N, H} : Shape{N}, acc, c.qk_norm, Full},
      {"k_rstd", per_head ? Shape{N, G} : Shape{N}, acc, c.qk_norm, Full},
      {"attn_out", {N, C}, compute, after, Full},
      {"attn_post_rstd", {N}, acc, after, Full},
      {"mlp_out", {N, C}, compute, after, Full},
      {"mlp_post_rstd", {N}, acc, after, Never},  // no recomputation reaches a layer's end
  });
}

std::vector<StepRow> input_rows(const ModelConfig& c, const TrainShape& s) {
  using enum DType;
  using enum TensorKind;
  using enum RowLife;
  const int64_t B = s.B, T = s.T, N = B * T, D = c.head_dim;
  const DType acc = accumulation_dtype(s.compute);
  const bool learned = c.positions == Positions::Learned, documents = s.document_mask;
  return existing<StepRow>({
      // name, shape, dtype, exists, kind, life, copies
      {"tokens", {N}, I32, true, Input, Run, StepRow::PerSlot},
      {"targets", {N}, I32, true, Input, Run, StepRow::PerSlot},
      {"loss.scale", {1}, F64, true, Input, Run},
      {"document_start", {B, T}, I32, documents, Input, Run, StepRow::PerSlot},
      {"positions", {B, T}, I32, documents || learned, Input, Run, StepRow::PerSlot},
      {"rope.cos", {T, D / 2}, acc, !learned, Input, Run},
      {"rope.sin", {T, D / 2}, acc, !learned, Input, Run},
      {"workspace", {s.workspace_bytes}, U8, true, Workspace, Run},
  });
}

std::vector<StepRow> fp8_rows(const ModelConfig& c, const TrainShape& s) {
  using enum DType;
  using enum TensorKind;
  using enum RowLife;
  if (!s.fp8) return {};
  // One layer computes at a time, so its GEMMs share the widest operand of each kind.
  const int64_t N = s.B * s.T, C = c.dim, wide_d = std::max(c.qkv_rows(), c.up_rows());
  const int64_t widest = std::max({C, c.heads * c.head_dim, c.ffn});
  std::vector<StepRow> rows = {
      // name, shape, dtype, exists, kind, life; "t" is the transposed copy
      {"fp8.x", {N, widest}, F8E4M3, true, Activation, LayerPasses},
      {"fp8.xt", {widest, N}, F8E4M3, true, Activation, LayerPasses},
      {"fp8.d", {N, C}, F8E5M2, true, Activation, LayerPasses},
      {"fp8.dt", {C, N}, F8E5M2, true, Activation, LayerPasses},
      {"fp8.wide_d", {N, wide_d}, F8E5M2, true, Activation, LayerPasses},
      {"fp8.wide_dt", {wide_d, N}, F8E5M2, true, Activation, LayerPasses},
  };
  const TensorTable parameters = transformer_parameters(c);
  for (const TensorSpec& weight : parameters.rows()) {
    const bool is_head = weight.name == (c.tied ? "embedding.weight" : "head.weight");
    if (weight.role != Role::Matrix && !(is_head && s.fp8_head)) continue;
    const int64_t R = weight.shape[0], K = weight.shape[1];
    rows.push_back({"fp8:" + weight.name, {R, K}, F8E4M3, true, Quantized, Run});
    rows.push_back({"fp8t:" + weight.name, {K, R}, F8E4M3, true, Quantized, Run});
  }
  // One scale per GEMM of each layer, then the head's, in the first column of (S, stride).
  const int64_t S = kFp8PerLayer * c.layers + 1, stride = kFp8ScaleStride;
  const auto scales = [&](const std::string& name, Shape shape) {
    rows.push_back({"fp8." + name, shape, F32, true, Quantized, Run});
  };
  for (const char* what : {"activations", "gradients", "weights"})
    for (const char* field : {"scale", "inverse"})
      scales(fmt::format("{}.{}", what, field), {S, stride});
  scales("weights.amax", {S, stride});
  scales("maxima", {2, S, stride});  // of activations, of gradients
  scales("activations.history", {kFp8History, S});
  scales("gradients.history", {kFp8History, S});
  return rows;
}

std::vector<StepRow> output_rows(const ModelConfig& c, const TrainShape& s) {
  using enum TensorKind;
  using enum RowLife;
  const int64_t N = s.B * s.T, C = c.dim, H = c.heads, G = c.kv_heads, D = c.head_dim;
  const DType compute = s.compute, acc = accumulation_dtype(compute);
  // The gradients of up and act overwrite the values. The head's workspace mostly shares memory
  // with rows that hold nothing while the head computes.
  return existing<StepRow>({
      // name, shape, dtype, exists, kind, life, copies
      {"head_workspace", {s.head_workspace_bytes}, DType::U8, true, Activation, Head},
      {"final_residual", {N, C}, compute, true, Activation, ToLoss, StepRow::PerSlot},
      {"final_norm", {N, C}, compute, true, Activation, ToLoss, StepRow::PerSlot},
      {"final_rstd", {N}, acc, true, Activation, ToLoss, StepRow::PerSlot},
      {"losses", {N}, acc, true, Activation, FromLoss, StepRow::PerSlot},
      {"d.residual", {N, C}, compute, true, Activation, FromLoss},
      {"d.qkv", {N, c.qkv_rows()}, compute, true, Activation, BackwardPass},
      {"d.qk", {N, (H + G) * D}, compute, c.qk_norm, Activation, BackwardPass},
      {"d.attn", {N, H * D}, compute, true, Activation, BackwardPass},
      {"d.norm", {N, C}, compute, c.norm_before(), Activation, BackwardPass},
      {"d.branch", {N, C}, compute, c.norm_after(), Activation, BackwardPass},
  });
}

}  // namespace ingot
