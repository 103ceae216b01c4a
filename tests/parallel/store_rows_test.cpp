// What a rank holds, by the rows of its store.
#include "spec/rows/store_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "parallel/shard/parameter_store.h"
#include "spec/model/transformer_parameters.h"
#include "spec/rows/optimizer_states.h"
#include "support/toy_store.h"

namespace ingot {
namespace {

using testing::store_table;
using testing::toy_parameters;

constexpr int kNumBlocks = 4;

// From the definition rather than from add_store_rows: shares of what is shared, and whole blocks
// as long as something may read or write them.
TEST(StoreRows, ARankHoldsItsShareAndTheBlocksInUse) {
  const TensorTable parameters = toy_parameters();
  constexpr int kRanks = 2;
  for (const DType compute : {DType::F32, DType::BF16}) {
    const int64_t width = size_of(compute);
    std::vector<int64_t> end(kNumBlocks), shard(kNumBlocks);  // elements
    for (const TensorSpec& row : parameters.rows()) {
      int64_t& at = end[static_cast<size_t>(row.block)];
      at = (at + 127) / 128 * 128 + row.shape.numel();
    }
    int64_t all_shards = 0;
    for (size_t b = 0; b < end.size(); ++b) {
      shard[b] = ((end[b] + kRanks - 1) / kRanks + 127) / 128 * 128;
      all_shards += shard[b];
    }
    const int64_t states = all_shards * (2 * 4 + (compute == DType::F32 ? 0 : 2));
    const int64_t own_weights = all_shards * width, own_gradients = all_shards * 4;
    const auto weights = [&](int b) { return kRanks * shard[static_cast<size_t>(b)] * width; };
    const auto gradients = [&](int b) { return kRanks * shard[static_cast<size_t>(b)] * 4; };
    const auto total = [&](UnshardedWeights whole, GradientSync sync) {
      return plan_memory(
                 store_table(
                     parameters, {.dp_shard = kRanks},
                     {.compute = compute, .gradient_sync = sync, .unsharded_weights = whole}))
          .total_bytes;
    };
    using enum UnshardedWeights;
    using enum GradientSync;
    // By tick: embedding, layer, layer, loss (tied), layer, layer, embedding, beside which the next
    // micro-step's embedding is gathered.
    EXPECT_EQ(total(AroundUses, MicroStep),
              states + own_weights + own_gradients +
                  std::max({weights(0) + weights(1), weights(1) + weights(2),
                            weights(2) + weights(0) + weights(3),
                            weights(2) + weights(0) + weights(3) + gradients(0) + gradients(3),
                            weights(2) + weights(1) + gradients(0) + gradients(3) + gradients(2),
                            weights(1) + gradients(2) + gradients(1),
                            weights(0) + gradients(1) + gradients(0)}));
    // Kept through the step: all gradients, besides the weights in use.
    EXPECT_EQ(total(AroundUses, Step),
              states + own_weights + kRanks * own_gradients +
                  std::max({weights(0) + weights(1), weights(1) + weights(2),
                            weights(2) + weights(0) + weights(3)}));
    EXPECT_EQ(total(ForwardToBackward, Step),
              states + own_weights + kRanks * own_gradients + kRanks * own_weights);
    EXPECT_EQ(total(Always, Step), states + kRanks * own_gradients + kRanks * own_weights);
    EXPECT_EQ(total(Always, MicroStep),
              states + own_gradients + kRanks * own_weights +
                  std::max({gradients(0) + gradients(3), gradients(0) + gradients(3) + gradients(2),
                            gradients(2) + gradients(1), gradients(1) + gradients(0)}));
  }
}

// States, gradients and weights by what is shared of them (Rajbhandari et al., ZeRO, figure 1).
TEST(StoreRows, WhatRanksShareShrinksWithTheirNumber) {
  ModelConfig c = model_preset("llama_10m");
  c.layers = 16;  // of which few are whole at a time
  const TensorTable parameters = transformer_parameters(c);
  const auto bytes = [&](int ranks, DataParallel mode) {
    RunConfig config;
    config.model = c;
    config.system.data_parallel = mode;
    TensorTable table;
    add_store_rows(table, parameters, DType::BF16, data_layout(ranks, mode),
                   store_options(config, /*one_micro_step=*/false));
    std::map<TensorKind, int64_t> by_kind;
    for (const auto& one_kind : plan_memory(table).categories)
      by_kind[one_kind.kind] = one_kind.bytes;
    return by_kind;
  };
  const auto one = bytes(1, DataParallel::Replicated);
  constexpr TensorKind kStates[] = {TensorKind::OptimizerState, TensorKind::MasterWeight};
  for (const int ranks : {2, 3, 8}) {
    const auto expect = [&](DataParallel mode, TensorKind kind, bool shared) {
      const int64_t whole = one.at(kind);
      const double part = static_cast<double>(bytes(ranks, mode).at(kind));
      EXPECT_NEAR(part / static_cast<double>(shared ? whole / ranks : whole), 1.0, 5e-3)
          << name_of(kind) << " on " << ranks << " ranks";
    };
    using enum DataParallel;
    for (const DataParallel mode : {Replicated, Zero1, Zero2, FullySharded}) {
      for (const TensorKind kind : kStates) expect(mode, kind, mode != Replicated);
      expect(mode, TensorKind::Gradient, mode == Zero2 || mode == FullySharded);
      expect(mode, TensorKind::Weight, mode == FullySharded);
    }
  }
}

TEST(StoreRows, ALargeEmbeddingDoesNotSizeTheLayersBuffers) {
  ModelConfig c = model_preset("llama_10m");
  const auto gathered = [&](int64_t vocab) {
    c.vocab = vocab;
    TensorTable table, without;
    const TensorTable parameters = transformer_parameters(c);
    add_store_rows(table, parameters, DType::BF16, {.dp_shard = 4}, {.order = block_uses(c)});
    for (const TensorSpec& row : table.rows())
      if (row.kind != TensorKind::GatherBuffer) without.add(row);
    return plan_memory(table).total_bytes - plan_memory(without).total_bytes;
  };
  const int64_t layer = parameter_count(c) / c.layers;  // and more, with a share of the embedding
  const int64_t V = 10 * layer / c.dim;                 // ten times as large
  // Its weights and its gradient, which is alive with one layer's; the head's likewise.
  EXPECT_LT(gathered(V), V * c.dim * (2 + 4) + 4 * layer * (2 + 4));
}

TEST(StoreRows, MomentsTakeTheAskedDtypeButMuonsMomentum) {
  const TensorTable parameters = toy_parameters();
  for (const OptimKind kind : {OptimKind::AdamW, OptimKind::Muon}) {
    TensorTable table;
    OptimConfig optim;
    optim.kind = kind;
    optim.moments = DType::BF16;
    add_store_rows(table, parameters, DType::BF16, {}, {optim});
    const auto world = single_world();
    const PlacedTensors placed(table, Device::cpu());
    ThreadPool pool(1);
    Context ctx{.device = Device::cpu(), .pool = &pool, .workspace = {}};
    const auto store = make_parameter_store(ctx, *world, parameters, {}, placed, DType::BF16);
    for (const ParameterShard& shard : store->shards()) {
      const TensorSpec& parameter = parameters[shard.parameter];
      const bool muon = optimizer_of(optim, parameter) == OptimKind::Muon;
      ASSERT_EQ(shard.states.size(), muon ? 1 : 2) << parameter.name;
      EXPECT_EQ(shard.state_names.front(), "moment1");
      for (const Tensor& state : shard.states)
        EXPECT_EQ(state.dtype, muon ? DType::F32 : DType::BF16) << parameter.name;
      EXPECT_EQ(shard.gradient.dtype, DType::F32);
      EXPECT_EQ(shard.master.dtype, DType::U16);
    }
  }
}

}  // namespace
}  // namespace ingot
