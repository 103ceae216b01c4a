// The rows of weights, gradients and optimizer states: names and shapes shared by the parameter
// store and the memory planner. The store's behaviour follows from the rows of its table: for
// example, it gathers weights if there are rows for gathered weights.
#pragma once

#include <string>
#include <vector>

#include "spec/layout/layout.h"
#include "spec/rows/block_layout.h"
#include "spec/rows/block_use.h"
#include "spec/run/run_config.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// The rows of a block, flat, in the order of its BlockLayout. n ranks share it, S elements each.
enum class StoreRow {
  Weights,    // (S) in compute dtype; (n·S) if always unsharded
  Gradients,  // (S) accumulation dtype; (n·S) if kept unsharded through the step; see below
  Masters,    // (S) accumulation dtype, or U16 if compute is BF16; none if compute is that dtype
  UnshardedWeights,    // (n·S), gathered around the block's uses; none if always unsharded
  UnshardedGradients,  // (n·S) accumulation dtype, around the ticks that write them; none if kept
  NarrowGradients      // (n·S) BF16, sent in the reduction; none if it is in their own dtype
};
std::string store_row_name(StoreRow what, size_t block);  // "weights.3"
// On a single rank nothing is sent, and each gradient has its own row, "gradients.NAME": small rows
// fit where large ones do not.
std::string gradient_row_name(const std::string& parameter);

// The row of a state, "moment1.f32.3": for all parameters of a block that have it in that dtype,
// packed.
std::string state_row_name(const std::string& state, DType dtype, size_t block);
std::string state_of_row(const std::string& row_name);  // "moment1"

struct StoreOptions {
  OptimConfig optim = {};  // its states are kept for each parameter
  // A step has one micro-step. Then gradients live only from the tick that writes them to the
  // update, and mostly reuse the memory of activations that the backward pass no longer needs.
  bool one_micro_step = false;
  // The uses of blocks in a micro-step; needed if lifetimes depend on them (one_micro_step,
  // sharding).
  std::vector<BlockUse> order = {};
  // If blocks are sharded: how long gathered weights stay, and when gradients are reduced. Step:
  // unsharded gradients are kept through the step.
  UnshardedWeights unsharded_weights = UnshardedWeights::AroundUses;
  GradientSync gradient_sync = GradientSync::MicroStep;
  bool narrow_reduction = false;  // send gradients between ranks in BF16
  bool group_of_one = false;      // one rank reduces its gradients as several do
  int overlap_ticks = 1;          // ticks that a gather or a reduction may overlap with compute
  // Masters and states lie in page-locked host memory (spec/rows/offload_rows.h).
  bool offload_optimizer = false;
};

// Options from the settings.
StoreOptions store_options(const RunConfig& config, bool one_micro_step);

// Adds the store's rows on one rank to `table`, beside the model's activations. They are the same
// on every rank. `parameters` holds the weights; compute is their dtype. Rows live through every
// tick, except gradients with one_micro_step and gathered or unreduced tensors.
void add_store_rows(TensorTable& table, const TensorTable& parameters, DType compute,
                    const Layout& layout, const StoreOptions& options = {});

}  // namespace ingot
