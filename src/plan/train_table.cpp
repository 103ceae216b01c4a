#include "plan/train_table.h"

#include "spec/rows/decode_table.h"
#include "spec/rows/offload_rows.h"
#include "spec/rows/optimizer_states.h"
#include "spec/rows/store_rows.h"

namespace ingot {

TensorTable train_table(const ResolvedRun& run) {
  const RunConfig& config = run.config;
  TensorTable table = transformer_train_table(config.model, run.shape);
  StoreOptions store = store_options(config, run.one_micro_step);
  store.group_of_one = run.place.group_of_one;
  add_store_rows(table, transformer_parameters(config.model), run.shape.compute, run.shape.layout,
                 store);
  if (config.system.offload_optimizer)
    add_offload_rows(table, transformer_parameters(config.model), run.shape.compute,
                     run.shape.layout);
  add_update_rows(table, config.optim, config.system.offload_optimizer);
  // Gathered weights of the next step may be under way between two steps.
  if (run.scoring)
    add_scoring_rows(table, config.model, *run.scoring,
                     /*shares_memory=*/run.shape.layout.dp_shard == 1);
  return table;
}

}  // namespace ingot
