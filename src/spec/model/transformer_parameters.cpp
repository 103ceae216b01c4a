#include "spec/model/transformer_parameters.h"

#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace ingot {

TensorTable transformer_parameters(const ModelConfig& c) {
  TensorTable table;
  const auto weight = [&](std::string name, Shape shape, Role role, int block, int64_t shard_dim,
                          double std, std::vector<int64_t> parts = {}) {
    TensorSpec spec;
    spec.name = std::move(name);
    spec.shape = shape;
    spec.dtype = DType::F32;
    spec.kind = TensorKind::Weight;
    spec.role = role;
    spec.init = role == Role::Norm ? InitRule::Ones : InitRule::Normal;
    spec.init_std = std;
    spec.parts = std::move(parts);
    spec.block = block;
    spec.shard_dim = shard_dim;
    table.add(std::move(spec));
  };
  const int64_t C = c.dim, D = c.head_dim, HD = c.heads * D, GD = c.kv_heads * D;
  const int64_t F = c.ffn;
  const std::vector<int64_t> qkv_parts = {HD, GD, GD};
  const auto up_parts = c.gated() ? std::vector{F, F} : std::vector<int64_t>{};
  // Two branches a layer add to the stream; this keeps its variance from growing with depth.
  const double branch_std = c.init_std / std::sqrt(2.0 * static_cast<double>(c.layers));
  const auto norm = [&](const std::string& name, int block) {
    weight(name + ".weight", {C}, Role::Norm, block, -1, 0.0);
    if (c.norm == NormKind::Layer) weight(name + ".bias", {C}, Role::Bias, block, -1, 0.0);
  };
  weight("embedding.weight", {c.vocab, C}, Role::Embedding, 0, 0, c.init_std);
  if (c.positions == Positions::Learned)
    weight("position.weight", {c.context, C}, Role::Embedding, 0, -1, c.init_std);
  for (int64_t i = 0; i < c.layers; ++i) {
    const int block = layer_block(i);
    const auto add = [&](const char* what, Shape shape, Role role, int64_t shard_dim, double std,
                         std::vector<int64_t> parts = {}) {
      weight(layer_name(i, what), shape, role, block, shard_dim, std, std::move(parts));
    };
    if (c.norm_before()) norm(layer_name(i, "attn_norm"), block);
    add("qkv.weight", {c.qkv_rows(), C}, Role::Matrix, 0, c.init_std, qkv_parts);
    if (c.qkv_bias) add("qkv.bias", {c.qkv_rows()}, Role::Bias, 0, 0.0, qkv_parts);
    if (c.qk_norm) {
      const bool head = c.qk_norm_span == QkNormSpan::Head;
      add("q_norm.weight", {head ? D : HD}, Role::Norm, -1, 0.0);
      add("k_norm.weight", {head ? D : GD}, Role::Norm, -1, 0.0);
    }
    add("out.weight", {C, HD}, Role::Matrix, 1, branch_std);
    if (c.out_bias) add("out.bias", {C}, Role::Bias, -1, 0.0);
    if (c.norm_after()) norm(layer_name(i, "attn_post_norm"), block);
    if (c.norm_before()) norm(layer_name(i, "mlp_norm"), block);
    add("up.weight", {c.up_rows(), C}, Role::Matrix, 0, c.init_std, up_parts);
    if (c.mlp_bias) add("up.bias", {c.up_rows()}, Role::Bias, 0, 0.0, up_parts);
    add("down.weight", {C, F}, Role::Matrix, 1, branch_std);
    if (c.mlp_bias) add("down.bias", {C}, Role::Bias, -1, 0.0);
    if (c.norm_after()) norm(layer_name(i, "mlp_post_norm"), block);
  }
  norm("final_norm", head_block(c));
  if (!c.tied) weight("head.weight", {c.vocab, C}, Role::Head, head_block(c), 0, c.init_std);
  return table;
}

std::string layer_name(int64_t layer, std::string_view what) {
  return fmt::format("layers.{}.{}", layer, what);
}

int layer_block(int64_t layer) {
  return static_cast<int>(layer) + 1;
}

int head_block(const ModelConfig& c) {
  return static_cast<int>(c.layers) + 1;
}

}  // namespace ingot
