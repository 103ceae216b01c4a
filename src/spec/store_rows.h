// The rows of weights, gradients and optimizer states: names and shapes that the parameter stores
// and whoever plans their memory agree on.
#pragma once

#include <string>
#include <vector>

#include "spec/block_use.h"
#include "spec/layout.h"
#include "spec/run_config.h"
#include "spec/tensor_table.h"

namespace ingot {

// The row that belongs to parameter `name`: "grad:" + name and so on; name itself for Weight. Of an
// optimizer's state it is the state's name that stands before.
std::string store_row_name(TensorKind kind, const std::string& name);
std::string state_row_name(const std::string& state, const std::string& name);

// Where a block's weights, or gradients, are whole: "gather.weights.3".
enum class GatherRow { Weights, Gradients };
std::string gather_row_name(GatherRow what, size_t block);

// Where the parameters of a block lie in such a row, each whole and padded to equal shards.
struct BlockLayout {
  struct Entry {
    TensorId parameter;
    int64_t begin = 0;         // element of the row
    int64_t padded_numel = 0;  // ranks · padded_shard_size
  };
  std::vector<Entry> entries;
  int64_t num_elements = 0;
};

// By block number.
std::vector<BlockLayout> block_layouts(const TensorTable& parameters, int ranks);

struct StoreOptions {
  OptimConfig optim = {};  // what is declared for it is kept beside each parameter
  // A step is one micro-step. Gradients then need to live only from the tick that writes them to
  // the update, and mostly lie where activations were that the backward pass is done with.
  bool one_micro_step = false;
  // A micro-step's uses of blocks: where one_micro_step or the layout makes lives depend on them.
  std::vector<BlockUse> order = {};
  // Where weights are sharded: when their gradients are reduced. Step: whole ones are kept through
  // the step, in F32.
  GradientSync gradient_sync = GradientSync::MicroStep;
  // Masters and states lie in page-locked host memory (spec/offload_rows.h).
  bool offload_optimizer = false;
};

// Rows the store needs on one rank, added to `table` beside the model's activations. `parameters`
// holds the weights; compute is their working dtype. They live through every tick, but for
// gradients of one_micro_step. Of a parameter NAME: "NAME" (in compute dtype); wide (wide_dtype)
// "grad:NAME" and, unless compute is wide itself, "master:NAME" (U16 where compute is BF16); the
// states of its optimizer as they are declared, "moment1:NAME"; of its whole shape, or, sharded,
// flat and of padded_shard_size. Sharded adds the gather rows of each block, padded and whole,
// weights in compute dtype and gradients wide, which live around the block's uses.
void add_store_rows(TensorTable& table, const TensorTable& parameters, DType compute,
                    const Layout& layout, const StoreOptions& options = {});

}  // namespace ingot
