#include "plan/train_table.h"

#include "spec/optimizer_states.h"
#include "spec/store_rows.h"

namespace ingot {

TensorTable train_table(const ResolvedRun& run) {
  const RunConfig& config = run.config;
  TensorTable table = llama_train_table(config.model, run.shape);
  add_store_rows(table, llama_parameters(config.model), run.shape.compute, run.shape.layout,
                 store_options(config, run.one_micro_step));
  add_update_rows(table, config.optim);
  return table;
}

}  // namespace ingot
