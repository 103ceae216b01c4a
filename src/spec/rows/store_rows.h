// The rows of weights, gradients and optimizer states: names and shapes that the parameter store
// and whoever plans its memory agree on. The rows of a table say how the store works: it gathers
// weights where there are rows for whole ones, and so on.
#pragma once

#include <string>
#include <vector>

#include "spec/layout/layout.h"
#include "spec/rows/block_layout.h"
#include "spec/rows/block_use.h"
#include "spec/run/run_config.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// A block's rows, all flat, in the order of its BlockLayout; n ranks share it, S elements each.
enum class StoreRow {
  Weights,         // (S) in compute dtype; (n·S) where they are always whole
  Gradients,       // (S) wide; (n·S) where whole ones are kept through the step; see below
  Masters,         // (S) wide, or U16 where compute is BF16; none where compute is wide itself
  WholeWeights,    // (n·S), around the block's uses; none where they are always whole
  WholeGradients,  // (n·S) wide, around the ticks that write them; none where they are kept
  NarrowGradients  // (n·S) BF16, what is sent of them; none where they are reduced as they are
};
std::string store_row_name(StoreRow what, size_t block);  // "weights.3"
// Where nothing is sent, on one rank, small rows find room where large ones do not: a row for each
// parameter's gradient, "gradients.NAME".
std::string gradient_row_name(const std::string& parameter);

// A state's rows, "moment1.f32.3": of the parameters of a block that have it in that dtype, packed.
std::string state_row_name(const std::string& state, DType dtype, size_t block);
std::string state_of_row(const std::string& row_name);  // "moment1"

struct StoreOptions {
  OptimConfig optim = {};  // what is declared for it is kept beside each parameter
  // A step is one micro-step. Gradients then need to live only from the tick that writes them to
  // the update, and mostly lie where activations were that the backward pass is done with.
  bool one_micro_step = false;
  // A micro-step's uses of blocks: where one_micro_step or the layout makes lives depend on them.
  std::vector<BlockUse> order = {};
  // Where ranks share blocks: when weights are whole, and when gradients are reduced. Step: whole
  // ones are kept through the step.
  WholeWeights whole_weights = WholeWeights::AroundUses;
  GradientSync gradient_sync = GradientSync::MicroStep;
  bool narrow_reduction = false;  // gradients of several ranks are sent in BF16
  bool group_of_one = false;      // the gradients of one rank are sent as those of several are
  int overlap_ticks = 1;  // that a gather or a reduction has to be done while others compute
  // Masters and states lie in page-locked host memory (spec/rows/offload_rows.h).
  bool offload_optimizer = false;
};

// As the settings have it.
StoreOptions store_options(const RunConfig& config, bool one_micro_step);

// Rows the store needs on one rank, added to `table` beside the model's activations; the same on
// every rank. `parameters` holds the weights; compute is their working dtype. They live through
// every tick, but for gradients of one_micro_step and what is whole for a while.
void add_store_rows(TensorTable& table, const TensorTable& parameters, DType compute,
                    const Layout& layout, const StoreOptions& options = {});

}  // namespace ingot
