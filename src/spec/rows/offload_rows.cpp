#include "spec/rows/offload_rows.h"

#include <algorithm>

#include "spec/rows/shard_map.h"

namespace ingot {

std::string offload_row_name(OffloadRow what, const std::string& parameter) {
  return (what == OffloadRow::Gradients ? "host.grad:" : "host.weight:") + parameter;
}

void add_offload_rows(TensorTable& table, const TensorTable& parameters, DType compute,
                      const Layout& layout) {
  std::vector<int64_t> most(parameters.rows().size());
  for (const ShardMap& map : shard_maps(parameters, layout))
    for (const Slice& slice : map.slices()) {
      int64_t& n = most[static_cast<size_t>(slice.parameter.row)];
      n = std::max(n, slice.range.size());
    }
  for (size_t i = 0; i < most.size(); ++i) {
    const auto add = [&](OffloadRow what, TensorKind kind, DType dtype) {
      TensorSpec row;
      row.name = offload_row_name(what, parameters.rows()[i].name);
      row.shape = {most[i]};
      row.dtype = dtype;
      row.kind = kind;
      row.space = MemorySpace::Pinned;
      table.add(row);
    };
    add(OffloadRow::Gradients, TensorKind::Gradient, accumulation_dtype(compute));
    add(OffloadRow::Weights, TensorKind::MasterWeight, compute);
  }
}

}  // namespace ingot
