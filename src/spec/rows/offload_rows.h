// Host rows of a run with system.offload_optimizer, for a rank's shards. Masters and optimizer
// states also lie in host memory; they are rows of the store.
#pragma once

#include <string>

#include "spec/layout/layout.h"
#include "spec/table/tensor_table.h"

namespace ingot {

enum class OffloadRow {
  Gradients,  // accumulation dtype: copied from the device
  Weights     // compute dtype: copied to the device; also the masters if they share that dtype
};
std::string offload_row_name(OffloadRow what, const std::string& parameter);  // "host.grad:NAME"

// Both rows for every parameter, page-locked, (n): n is the largest number of elements on any rank
// of `layout`.
void add_offload_rows(TensorTable& table, const TensorTable& parameters, DType compute,
                      const Layout& layout);

}  // namespace ingot
