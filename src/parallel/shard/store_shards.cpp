#include "parallel/shard/store_shards.h"

#include <map>
#include <string>
#include <utility>

#include "spec/store_rows.h"

namespace ingot {
namespace {

// The optimizer's states of each parameter as (name, row), in the order of the table.
using States = std::map<std::string, std::vector<std::pair<std::string, TensorId>>>;

States states_in(const TensorTable& table) {
  States states;
  for (int32_t row = 0; row < static_cast<int32_t>(table.rows().size()); ++row) {
    const TensorSpec& spec = table[{row}];
    if (spec.kind != TensorKind::OptimizerState) continue;
    const std::string& parameter = table[spec.parameter].name;
    const size_t prefix = spec.name.size() - parameter.size() - 1;  // state_row_name()
    states[parameter].emplace_back(spec.name.substr(0, prefix), TensorId{row});
  }
  return states;
}

}  // namespace

std::vector<ParameterShard> store_shards(const TensorTable& parameters, const ShardMap& map,
                                         const PlacedTensors& placed, DType compute) {
  std::vector<ParameterShard> shards;
  States states = states_in(placed.table());
  for (const Slice& slice : map.slices()) {
    const TensorSpec& parameter = parameters[slice.parameter];
    ParameterShard shard;
    shard.parameter = slice.parameter;
    shard.range = slice.range;
    const auto without_padding = [&](const Tensor& tensor) {  // (range.size())
      return tensor.reshape({tensor.numel()}).slice(0, 0, shard.range.size());
    };
    const auto flat = [&](TensorKind kind) {
      return without_padding(placed.find(store_row_name(kind, parameter.name)));
    };
    shard.weight = flat(TensorKind::Weight);
    shard.master = compute == wide_dtype(compute) ? shard.weight : flat(TensorKind::MasterWeight);
    shard.gradient = flat(TensorKind::Gradient);
    for (const auto& [name, id] : states[parameter.name]) {
      shard.state_names.push_back(name);
      shard.states.push_back(without_padding(placed[id]));
    }
    shards.push_back(std::move(shard));
  }
  return shards;
}

}  // namespace ingot
