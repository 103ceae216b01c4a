// Rows of a run whose optimizer works in host memory (system.offload_optimizer): what of a rank's
// shards lies there beside masters and states, which are the store's rows.
#pragma once

#include <string>

#include "spec/layout/layout.h"
#include "spec/table/tensor_table.h"

namespace ingot {

enum class OffloadRow {
  Gradients,  // wide: as they come from the device
  Weights     // in compute dtype: as they go back; where that is wide they are the masters too
};
std::string offload_row_name(OffloadRow what, const std::string& parameter);  // "host.grad:NAME"

// Both of every parameter, page-locked, (n) with n the most elements that a rank of `layout` holds.
void add_offload_rows(TensorTable& table, const TensorTable& parameters, DType compute,
                      const Layout& layout);

}  // namespace ingot
