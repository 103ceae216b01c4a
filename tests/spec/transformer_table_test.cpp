#include "spec/rows/transformer_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error/error.h"
#include "spec/rows/decode_table.h"
#include "spec/rows/store_rows.h"

namespace ingot {
namespace {

TrainShape small(ActivationPolicy policy) {
  TrainShape shape;
  shape.B = 3;
  shape.T = 5;
  shape.policy = policy;
  shape.workspace_bytes = 77;
  shape.head_workspace_bytes = 99;
  return shape;
}

std::vector<std::string> names_of(const TensorTable& table) {
  std::vector<std::string> names;
  for (const TensorSpec& row : table.rows()) names.push_back(row.name);
  return names;
}

void expect_row(const TensorTable& table, std::string_view name, Shape shape, DType dtype) {
  const TensorId id = table.try_find(name);
  ASSERT_TRUE(id.valid()) << name;
  EXPECT_EQ(table[id].shape, shape) << name << " " << table[id].shape.str();
  EXPECT_EQ(table[id].dtype, dtype) << name;
}

TEST(TransformerTable, ParametersAreListedInCheckpointOrder) {
  ModelConfig c = model_preset("llama_test");
  c.layers = 1;
  c.qk_norm = true;
  EXPECT_EQ(names_of(transformer_parameters(c)),
            (std::vector<std::string>{"embedding.weight", "layers.0.attn_norm.weight",
                                      "layers.0.qkv.weight", "layers.0.q_norm.weight",
                                      "layers.0.k_norm.weight", "layers.0.out.weight",
                                      "layers.0.mlp_norm.weight", "layers.0.up.weight",
                                      "layers.0.down.weight", "final_norm.weight", "head.weight"}));
  c.tied = true;
  EXPECT_FALSE(transformer_parameters(c).try_find("head.weight").valid());
}

TEST(TransformerTable, BiasesAndPostNormsStandBesideTheirs) {
  ModelConfig c = model_preset("gpt2_124m");
  c.layers = 1;
  c.norm_place = NormPlace::Both;
  EXPECT_EQ(names_of(transformer_parameters(c)),
            (std::vector<std::string>{"embedding.weight",
                                      "position.weight",
                                      "layers.0.attn_norm.weight",
                                      "layers.0.attn_norm.bias",
                                      "layers.0.qkv.weight",
                                      "layers.0.qkv.bias",
                                      "layers.0.out.weight",
                                      "layers.0.out.bias",
                                      "layers.0.attn_post_norm.weight",
                                      "layers.0.attn_post_norm.bias",
                                      "layers.0.mlp_norm.weight",
                                      "layers.0.mlp_norm.bias",
                                      "layers.0.up.weight",
                                      "layers.0.up.bias",
                                      "layers.0.down.weight",
                                      "layers.0.down.bias",
                                      "layers.0.mlp_post_norm.weight",
                                      "layers.0.mlp_post_norm.bias",
                                      "final_norm.weight",
                                      "final_norm.bias"}));
  const TensorTable table = transformer_parameters(c);
  const TensorSpec& bias = table[table.find("layers.0.qkv.bias")];
  EXPECT_EQ(bias.role, Role::Bias);
  EXPECT_EQ(bias.init_std, 0.0);
  EXPECT_EQ(bias.shape, Shape({3 * 768}));
  EXPECT_EQ(table[table.find("position.weight")].shape, Shape({1024, 768}));
}

TEST(TransformerTable, ParametersCarryRoleBlockInitAndSplit) {
  const ModelConfig c = model_preset("llama_test");
  const TensorTable table = transformer_parameters(c);
  auto row = [&](std::string_view name) { return table[table.find(name)]; };
  EXPECT_EQ(row("embedding.weight").role, Role::Embedding);
  EXPECT_EQ(row("embedding.weight").block, 0);
  EXPECT_EQ(row("layers.1.down.weight").shape, Shape({32, 64}));
  EXPECT_EQ(row("layers.1.down.weight").block, 2);
  EXPECT_EQ(row("layers.1.down.weight").shard_dim, 1);
  EXPECT_DOUBLE_EQ(row("layers.1.down.weight").init_std, 0.02 / std::sqrt(4.0));
  EXPECT_DOUBLE_EQ(row("layers.1.up.weight").init_std, 0.02);
  EXPECT_EQ(row("layers.1.mlp_norm.weight").role, Role::Norm);
  EXPECT_EQ(row("layers.1.mlp_norm.weight").init, InitRule::Ones);
  EXPECT_EQ(row("head.weight").role, Role::Head);
  EXPECT_EQ(row("head.weight").block, head_block(c));
  EXPECT_EQ(row("final_norm.weight").block, 3);
}

TEST(TransformerTable, StackedMatricesSayTheirRows) {
  ModelConfig c = model_preset("llama_test");  // H 4, G 2, D 8, F 64
  auto parts = [&](std::string_view name) {
    const TensorTable table = transformer_parameters(c);
    return table[table.find(name)].parts;
  };
  EXPECT_EQ(parts("layers.1.qkv.weight"), (std::vector<int64_t>{32, 16, 16}));
  EXPECT_EQ(parts("layers.1.up.weight"), (std::vector<int64_t>{64, 64}));
  EXPECT_TRUE(parts("layers.1.down.weight").empty());
  c.activation = Activation::ReluSquared;
  EXPECT_TRUE(parts("layers.1.up.weight").empty());
}

TEST(TransformerTable, TrainingRowsHaveTheDocumentedShapes) {
  ModelConfig c = model_preset("llama_test");  // C 32, H 4, G 2, D 8, F 64
  c.qk_norm = true;
  TrainShape shape = small(ActivationPolicy::None);
  shape.compute = DType::BF16;
  shape.document_mask = true;
  const TensorTable t = transformer_train_table(c, shape);
  const DType bf16 = DType::BF16, f32 = DType::F32, i32 = DType::I32;
  expect_row(t, "tokens", {15}, i32);
  expect_row(t, "targets", {15}, i32);
  expect_row(t, "loss.scale", {1}, DType::F64);
  expect_row(t, "document_start", {3, 5}, i32);
  expect_row(t, "positions", {3, 5}, i32);
  expect_row(t, "rope.cos", {5, 4}, f32);
  expect_row(t, "rope.sin", {5, 4}, f32);
  expect_row(t, "workspace", {77}, DType::U8);
  expect_row(t, "head_workspace", {99}, DType::U8);
  expect_row(t, "layers.1.residual", {15, 32}, bf16);
  expect_row(t, "layers.1.attn_norm", {15, 32}, bf16);
  expect_row(t, "layers.1.attn_rstd", {15}, f32);
  expect_row(t, "layers.1.qkv", {15, 64}, bf16);
  expect_row(t, "layers.1.qk", {15, 48}, bf16);
  expect_row(t, "layers.1.q_rstd", {15, 4}, f32);
  expect_row(t, "layers.1.k_rstd", {15, 2}, f32);
  expect_row(t, "layers.1.attn", {15, 32}, bf16);
  expect_row(t, "layers.1.lse", {3, 4, 5}, f32);
  expect_row(t, "layers.1.mid", {15, 32}, bf16);
  expect_row(t, "layers.1.mlp_norm", {15, 32}, bf16);
  expect_row(t, "layers.1.mlp_rstd", {15}, f32);
  expect_row(t, "layers.1.up", {15, 128}, bf16);
  expect_row(t, "layers.1.act", {15, 64}, bf16);
  expect_row(t, "final_residual", {15, 32}, bf16);
  expect_row(t, "final_norm", {15, 32}, bf16);
  expect_row(t, "final_rstd", {15}, f32);
  expect_row(t, "losses", {15}, f32);
  expect_row(t, "d.residual", {15, 32}, bf16);
  expect_row(t, "d.qkv", {15, 64}, bf16);
  expect_row(t, "d.qk", {15, 48}, bf16);
  expect_row(t, "d.attn", {15, 32}, bf16);
  expect_row(t, "d.norm", {15, 32}, bf16);
  EXPECT_EQ(t.rows().size(), 18u + 2 * 14);

  c.qk_norm = false;
  shape.document_mask = false;
  const TensorTable plain = transformer_train_table(c, shape);
  for (const char* name : {"d.qk", "layers.0.qk", "layers.0.q_rstd", "positions", "document_start"})
    EXPECT_FALSE(plain.try_find(name).valid()) << name;
}

TEST(TransformerTable, InF64NoNumberOfAStepIsNarrower) {
  ModelConfig c = model_preset("llama_test");
  c.qk_norm = true;
  TrainShape shape = small(ActivationPolicy::Selective);
  shape.compute = DType::F64;
  for (const Layout& layout : {Layout{}, Layout{.dp_shard = 2}})
    for (const OptimKind kind : {OptimKind::AdamW, OptimKind::Muon}) {
      TensorTable table = transformer_train_table(c, shape);
      StoreOptions options;
      options.optim.kind = kind;
      options.order = block_uses(c);
      add_store_rows(table, transformer_parameters(c), shape.compute, layout, options);
      for (const TensorSpec& row : table.rows()) {
        EXPECT_TRUE(row.dtype == DType::F64 || row.dtype == DType::I32 || row.dtype == DType::U8)
            << row.name << " " << name_of(row.dtype);
        EXPECT_NE(row.kind, TensorKind::MasterWeight) << row.name;
      }
    }
}

TEST(TransformerTable, PolicyDecidesWhichRowsLayersShare) {
  const ModelConfig c = model_preset("llama_test");
  struct Expectation {
    ActivationPolicy policy;
    std::vector<std::string> shared, own;
  };
  const std::vector<Expectation> cases = {
      {ActivationPolicy::None, {}, {"residual", "attn_norm", "qkv", "mlp_norm", "up", "act"}},
      {ActivationPolicy::Selective,
       {"attn_norm", "mlp_norm", "act"},
       {"residual", "attn_rstd", "qkv", "attn", "lse", "mid", "mlp_rstd", "up"}},
      {ActivationPolicy::Full,
       {"attn_norm", "attn_rstd", "qkv", "attn", "lse", "mid", "mlp_norm", "mlp_rstd", "up", "act"},
       {"residual"}},
  };
  for (const Expectation& expected : cases) {
    const TensorTable t = transformer_train_table(c, small(expected.policy));
    for (const std::string& what : expected.shared) {
      EXPECT_FALSE(t.try_find(layer_name(1, what)).valid()) << what;
      EXPECT_EQ(layer_row(t, 1, std::nullopt, what), t.find("shared." + what));
    }
    for (const std::string& what : expected.own) {
      EXPECT_FALSE(t.try_find("shared." + what).valid()) << what;
      EXPECT_EQ(layer_row(t, 1, std::nullopt, what), t.find("layers.1." + what));
    }
    EXPECT_FALSE(layer_row(t, 1, std::nullopt, "qk").valid());
  }
}

TEST(TransformerTable, TheLastLayersAreKeptWhole) {
  ModelConfig c = model_preset("llama_test");
  c.layers = 4;
  for (const ActivationPolicy policy : {ActivationPolicy::Selective, ActivationPolicy::Full}) {
    TrainShape shape = small(policy);
    shape.keep_layers = 1;
    EXPECT_EQ(policy_of(shape, 2, c.layers), policy);
    EXPECT_EQ(policy_of(shape, 3, c.layers), ActivationPolicy::None);
    const TensorTable t = transformer_train_table(c, shape);
    for (const char* what : {"attn_norm", "mlp_norm", "act"}) {
      EXPECT_EQ(layer_row(t, 2, std::nullopt, what), t.find(std::string("shared.") + what));
      EXPECT_EQ(layer_row(t, 3, std::nullopt, what), t.find(layer_name(3, what)));
    }
    const bool full = policy == ActivationPolicy::Full;
    EXPECT_EQ(layer_row(t, 2, std::nullopt, "up"), t.find(full ? "shared.up" : "layers.2.up"));
    EXPECT_EQ(layer_row(t, 3, std::nullopt, "up"), t.find("layers.3.up"));
  }
}

TEST(TransformerTable, AKeptLayerTakesTheRowsItWouldDropAndNothingElse) {
  const ModelConfig c = model_preset("llama_10m");
  for (const ActivationPolicy policy : {ActivationPolicy::Selective, ActivationPolicy::Full})
    for (const bool fp8 : {false, true}) {
      const auto table = [&](int64_t keep_layers, ActivationPolicy others) {
        TrainShape shape = small(others);
        shape.B = 32, shape.T = 64;
        shape.fp8 = fp8;
        shape.keep_layers = keep_layers;
        return transformer_train_table(c, shape);
      };
      const auto total = [&](int64_t keep_layers) {
        return plan_memory(table(keep_layers, policy)).total_bytes;
      };
      int64_t dropped = 0;
      const TensorTable without = table(0, policy);
      for (const TensorSpec& row : without.rows())
        if (row.name.starts_with("shared.") && row.recompute != Recompute::Always)
          dropped += row.bytes();
      for (int64_t keep = 1; keep < c.layers; ++keep)
        EXPECT_EQ(total(keep) - total(0), keep * dropped) << keep << " kept, fp8 " << fp8;

      const TensorTable all = table(c.layers, policy), none = table(0, ActivationPolicy::None);
      EXPECT_EQ(names_of(all), names_of(none));
      EXPECT_EQ(plan_memory(all).offset, plan_memory(none).offset);
    }
}

TEST(TransformerTable, LayersAreKeptOrOffloaded) {
  TrainShape shape = small(ActivationPolicy::Selective);
  shape.keep_layers = shape.offload_layers = 1;
  EXPECT_THROW(transformer_train_table(model_preset("llama_test"), shape), Error);
}

TEST(TransformerTable, OffloadedLayersAreSpreadOverTheModel) {
  const auto offloaded = [](int64_t num_layers, int64_t num_offloaded) {
    std::vector<int64_t> layers;
    for (int64_t i = 0; i < num_layers; ++i)
      if (const auto place = offload_place(i, num_layers, num_offloaded)) {
        EXPECT_EQ(*place, static_cast<int64_t>(layers.size()));
        layers.push_back(i);
      }
    return layers;
  };
  EXPECT_EQ(offloaded(16, 0), std::vector<int64_t>{});
  EXPECT_EQ(offloaded(16, 3), (std::vector<int64_t>{0, 5, 10}));
  for (const int64_t num_layers : {1, 5, 24})
    for (int64_t n = 0; n <= num_layers; ++n)
      EXPECT_EQ(static_cast<int64_t>(offloaded(num_layers, n).size()), n) << num_layers;

  TrainShape shape = small(ActivationPolicy::Selective);
  shape.offload_layers = 3;
  ModelConfig c = model_preset("llama_tiny");
  c.layers = 4;  // 0, 1 and 2 take turns, 3 keeps its own
  const TensorTable t = transformer_train_table(c, shape);
  EXPECT_EQ(layer_row(t, 2, 2, "qkv"), t.find("offload.0.qkv"));
  EXPECT_EQ(layer_row(t, 1, 1, "qkv"), t.find("offload.1.qkv"));
  EXPECT_FALSE(t.try_find("layers.1.qkv").valid());
  EXPECT_EQ(layer_row(t, 3, std::nullopt, "qkv"), t.find("layers.3.qkv"));
}

TEST(TransformerTable, WhatIsPutAwayHasRowsInHostMemory) {
  ModelConfig c = model_preset("llama_tiny");
  c.layers = 5;
  for (const int64_t layers : {0, 2, 3, 5}) {
    TrainShape shape = small(ActivationPolicy::Selective);
    shape.offload_layers = layers;
    const TensorTable t = transformer_train_table(c, shape);
    int64_t on_device = 0, on_host = 0;
    for (const TensorSpec& row : t.rows()) {
      EXPECT_EQ(row.space == MemorySpace::Pinned, row.name.starts_with("host.")) << row.name;
      if (row.name.starts_with("offload.0.")) on_device += align_up(row.bytes());
      if (row.name.starts_with("host.")) on_host += align_up(row.bytes());
    }
    EXPECT_EQ(on_host, std::max<int64_t>(0, layers - 2) * on_device);
    EXPECT_EQ(plan_memory(t).pinned_bytes, on_host);
  }
}

TEST(TransformerTable, SlotsRepeatWhatAMicroBatchKeeps) {
  const ModelConfig c = model_preset("llama_tiny");
  TrainShape shape = small(ActivationPolicy::Selective);
  shape.document_mask = true;
  const TensorTable one = transformer_train_table(c, shape);
  shape.slots = 3;
  const TensorTable three = transformer_train_table(c, shape);
  for (const TensorSpec& row : one.rows()) {
    expect_row(three, row.name, row.shape, row.dtype);
    const bool kept = row.name.starts_with("layers.") || row.name.starts_with("final_") ||
                      (row.dtype == DType::I32 && row.kind == TensorKind::Input) ||
                      row.name == "losses";
    for (int64_t slot = 1; slot < 3; ++slot)
      EXPECT_EQ(three.try_find(slot_name(slot, row.name)).valid(), kept) << row.name;
    // Any of them may be held while another computes.
    EXPECT_TRUE(!kept || three[three.find(row.name)].whole_run()) << row.name;
  }
  EXPECT_EQ(layer_row(three, 1, std::nullopt, "qkv", 2), three.find("slot.2.layers.1.qkv"));
  EXPECT_EQ(layer_row(three, 1, std::nullopt, "act", 2), three.find("shared.act"));
  shape.offload_layers = 1;
  EXPECT_THROW(transformer_train_table(c, shape), Error);
}

TEST(TransformerTable, WhatALayerKeepsLivesFromItsForwardToItsBackward) {
  const ModelConfig c = model_preset("llama_tiny");
  const TensorTable t = transformer_train_table(c, small(ActivationPolicy::Selective));
  auto life = [&](const std::string& name) { return t[t.find(name)].lives.front(); };
  const Lifetime gradient = life("d.residual");
  for (int64_t i = 0; i + 1 < c.layers; ++i) {
    const Lifetime outer = life(layer_name(i, "qkv")), inner = life(layer_name(i + 1, "qkv"));
    EXPECT_LT(outer.first, inner.first);
    EXPECT_GT(outer.last, inner.last);
    EXPECT_LE(gradient.first, inner.last);
    EXPECT_GE(gradient.last, outer.last);
  }
  EXPECT_EQ(life("final_norm").last, gradient.first);
  // A layer's residual is written by the end of the layer before.
  EXPECT_LE(life("layers.1.residual").first, life("layers.0.mid").first + 1);
}

TEST(TransformerTable, EachPolicyTakesLessThanTheOneBefore) {
  const ModelConfig c = model_preset("llama_10m");
  auto bytes = [&](ActivationPolicy policy) {
    return plan_memory(transformer_train_table(c, small(policy))).total_bytes;
  };
  EXPECT_GT(bytes(ActivationPolicy::None), bytes(ActivationPolicy::Selective));
  EXPECT_GT(bytes(ActivationPolicy::Selective), bytes(ActivationPolicy::Full));
}

TEST(DecodeTable, HoldsPackedWeightsPagesAndTheRowsOfOneRun) {
  const ModelConfig c = model_preset("llama_test");
  DecodeShape shape{.weights = WeightFormat::Q8_0,
                    .context = 100,
                    .pages = 5,
                    .max_rows = 7,
                    .max_logit_rows = 3,
                    .workspace_bytes = 55};
  const TensorTable t = transformer_decode_table(c, shape);
  expect_row(t, "layers.0.up.weight", {packed_bytes(WeightFormat::Q8_0, 128, 32)}, DType::U8);
  expect_row(t, "layers.1.attn_norm.weight", {32}, DType::F32);
  expect_row(t, "layers.1.cache", {5, 2 * 16 * 2 * 8}, DType::BF16);
  expect_row(t, "tokens", {7}, DType::I32);
  expect_row(t, "rope.cos", {100, 4}, DType::F32);
  expect_row(t, "shared.residual", {7, 32}, DType::F32);
  expect_row(t, "shared.act", {7, 64}, DType::F32);
  expect_row(t, "final_norm", {3, 32}, DType::F32);
  expect_row(t, "logits", {3, 257}, DType::F32);
  expect_row(t, "workspace", {55}, DType::U8);
  EXPECT_FALSE(t.try_find("shared.lse").valid());

  shape.packed = false;  // a GPU's
  EXPECT_THROW(transformer_decode_table(c, shape), Error);
  shape.weights = WeightFormat::BF16;
  const TensorTable plain = transformer_decode_table(c, shape);
  expect_row(plain, "layers.0.up.weight", {128, 32}, DType::BF16);
  expect_row(plain, "shared.residual", {7, 32}, DType::BF16);
  expect_row(plain, "logits", {3, 257}, DType::F32);
}

}  // namespace
}  // namespace ingot
