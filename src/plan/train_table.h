// Every tensor that one rank of a training run allocates.
#pragma once

#include "plan/resolved_run.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// plan_memory() of this table gives the bytes that the engine allocates, exactly.
TensorTable train_table(const ResolvedRun& run);

}  // namespace ingot
