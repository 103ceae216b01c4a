#include "spec/store_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/arena.h"
#include "core/error.h"
#include "spec/optimizer_states.h"
#include "spec/shard_range.h"

namespace ingot {
namespace {

// A parameter starts at a multiple of this many elements, so that it is aligned like an arena row
// in 2-byte weights as well as in 4-byte gradients and one layout serves both.
constexpr int64_t kElementAlignment = kArenaAlignment / 2;

std::string_view prefix_of(TensorKind kind) {
  switch (kind) {
    case TensorKind::Weight:
      return "";
    case TensorKind::Gradient:
      return "grad:";
    case TensorKind::MasterWeight:
      return "master:";
    default:
      throw Error(ErrorCode::Internal,
                  fmt::format("store rows: no row of kind {} per parameter", name_of(kind)));
  }
}

int gradient_tick(const std::vector<BlockUse>& order, int block) {
  const int tick = first_gradient_tick(order, block);
  check(tick >= 0, ErrorCode::Internal,
        "store rows: expected an order of uses that writes gradients of block {}, got none", block);
  return tick;
}

void add_parameter_rows(TensorTable& table, const TensorSpec& parameter, const Shape& shape,
                        DType compute, const StoreOptions& options) {
  TensorSpec weight = parameter;
  weight.shape = shape;
  weight.dtype = compute;
  const TensorId id = table.add(weight);
  const auto add = [&](TensorKind kind, std::string name, DType dtype, int first_tick = 0) {
    TensorSpec row = weight;
    row.name = std::move(name);
    row.dtype = dtype;
    row.lives = {{first_tick, Lifetime::kForever}};
    row.kind = kind;
    if (options.offload_optimizer && kind != TensorKind::Gradient) row.space = MemorySpace::Pinned;
    row.init = InitRule::None;
    row.parameter = id;
    table.add(row);
  };
  const auto named = [&](TensorKind kind) { return store_row_name(kind, parameter.name); };
  add(TensorKind::Gradient, named(TensorKind::Gradient), wide_dtype(compute),
      options.one_micro_step ? gradient_tick(options.order, parameter.block) : 0);
  if (compute != wide_dtype(compute))
    add(TensorKind::MasterWeight, named(TensorKind::MasterWeight),
        compute == DType::BF16 ? DType::U16 : DType::F32);
  for (const StateSpec& state : optimizer_states(options.optim, compute, parameter))
    add(TensorKind::OptimizerState, state_row_name(state.name, parameter.name), state.dtype);
}

// One row a block, so that a large embedding does not size the others' memory.
void add_gather_rows(TensorTable& table, const TensorTable& parameters, DType compute, int ranks,
                     const StoreOptions& options) {
  const bool kept = options.gradient_sync == GradientSync::Step && !options.one_micro_step;
  const auto add = [&](GatherRow what, size_t block, int64_t elements, DType dtype,
                       std::vector<Lifetime> lives) {
    TensorSpec row;
    row.name = gather_row_name(what, block);
    row.shape = {elements};
    row.dtype = dtype;
    row.kind = TensorKind::GatherBuffer;
    row.lives = std::move(lives);
    table.add(row);
  };
  const std::vector<BlockLayout> layouts = block_layouts(parameters, ranks);
  for (size_t block = 0; block < layouts.size(); ++block) {
    const int number = static_cast<int>(block);
    gradient_tick(options.order, number);  // there is one
    const int64_t elements = layouts[block].num_elements;
    add(GatherRow::Weights, block, elements, compute, gathered_lives(options.order, number));
    add(GatherRow::Gradients, block, elements, wide_dtype(compute),
        kept ? std::vector{Lifetime{}} : reduced_lives(options.order, number));
  }
}

}  // namespace

std::string store_row_name(TensorKind kind, const std::string& name) {
  return std::string(prefix_of(kind)) + name;
}

std::string state_row_name(const std::string& state, const std::string& name) {
  return state + ":" + name;
}

std::string gather_row_name(GatherRow what, size_t block) {
  return fmt::format("gather.{}.{}", what == GatherRow::Weights ? "weights" : "gradients", block);
}

std::vector<BlockLayout> block_layouts(const TensorTable& parameters, int ranks) {
  std::vector<BlockLayout> layouts;
  int32_t row = 0;
  for (const TensorSpec& parameter : parameters.rows()) {
    check(parameter.block >= 0, ErrorCode::Internal,
          "store: parameter {} belongs to no block; expected a block of 0 or more", parameter.name);
    const auto block = static_cast<size_t>(parameter.block);
    if (block >= layouts.size()) layouts.resize(block + 1);
    BlockLayout& layout = layouts[block];
    const int64_t padded = ranks * padded_shard_size(parameter.shape.numel(), ranks);
    layout.entries.push_back({TensorId{row++}, layout.num_elements, padded});
    layout.num_elements += (padded + kElementAlignment - 1) / kElementAlignment * kElementAlignment;
  }
  return layouts;
}

void add_store_rows(TensorTable& table, const TensorTable& parameters, DType compute,
                    const Layout& layout, const StoreOptions& options) {
  const bool sharded = layout.dp_shard > 1;
  for (const TensorSpec& parameter : parameters.rows()) {
    const Shape shape = sharded ? Shape{padded_shard_size(parameter.shape.numel(), layout.dp_shard)}
                                : parameter.shape;
    add_parameter_rows(table, parameter, shape, compute, options);
  }
  if (sharded) add_gather_rows(table, parameters, compute, layout.dp_shard, options);
}

}  // namespace ingot
