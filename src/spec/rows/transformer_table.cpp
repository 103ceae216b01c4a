#include "spec/rows/transformer_table.h"

#include <algorithm>

#include "core/error/error.h"
#include "spec/rows/block_use.h"
#include "spec/rows/transformer_rows.h"

namespace ingot {
namespace {

using Lives = std::vector<Lifetime>;

bool drops(ActivationPolicy policy, Recompute rule) {
  switch (rule) {
    case Recompute::Never:
      return false;
    case Recompute::Selective:
      return policy != ActivationPolicy::None;
    case Recompute::Full:
      return policy == ActivationPolicy::Full;
    case Recompute::Always:
      return true;
  }
  throw Error(ErrorCode::Internal, "unknown recompute rule");
}

TensorSpec activation(std::string name, const LayerRow& row, Lifetime life) {
  TensorSpec spec = activation_of(std::move(name), row.shape, row.dtype, life);
  spec.recompute = row.recompute;
  return spec;
}

void check_compute(DType compute) {
  check(compute == DType::F64 || compute == DType::F32 || compute == DType::BF16 ||
            compute == DType::F16,
        ErrorCode::Internal, "a tensor table expected compute dtype f64, f32, bf16 or f16, got {}",
        name_of(compute));
}

// The end of a layer writes the residual of the next one, hence forward - 1.
Lives lives_of(RowLife life, const Ticks& tick) {
  const int last_layer = tick.L - 1;
  switch (life) {
    case RowLife::Run:
      return {Lifetime{}};
    case RowLife::LayerPasses:
      return {{tick.forward(0) - 1, tick.loss() - 1}, {tick.loss() + 1, tick.backward(0)}};
    case RowLife::BackwardPass:
      return {{tick.backward(last_layer), tick.backward(0)}};
    case RowLife::Head:
      return {{tick.loss(), tick.loss()}};
    case RowLife::ToLoss:
      return {{tick.forward(last_layer), tick.loss()}};
    case RowLife::FromLoss:
      return {{tick.loss(), tick.last()}};
  }
  throw Error(ErrorCode::Internal, "unknown lifetime of a row");
}

class TrainTable {
 public:
  TrainTable(const ModelConfig& config, const TrainShape& shape)
      : shape_(shape), tick_(ticks_of(config)) {}

  void add(const std::vector<StepRow>& rows) {
    for (const StepRow& row : rows) {
      TensorSpec spec = spec_of(row.name, row.shape, row.dtype, row.kind);
      spec.lives = lives_of(row.life, tick_);
      if (row.copies == StepRow::PerSlot)
        add_slots(std::move(spec));
      else
        table_.add(std::move(spec));
    }
  }

  void add(const std::vector<LayerRow>& rows) {
    for (const LayerRow& row : rows) {
      add_shared(row);
      for (int layer = 0; layer < tick_.L; ++layer)
        if (!drops(layer, row)) add_kept(row, layer);
    }
  }

  TensorTable take() { return std::move(table_); }

 private:
  bool drops(int layer, const LayerRow& row) const {
    return ingot::drops(policy_of(shape_, layer, tick_.L), row.recompute);
  }

  // With several slots any of them may hold its rows at any tick of another.
  void add_slots(TensorSpec spec) {
    const std::string name = spec.name;
    if (shape_.slots > 1) spec.lives = {Lifetime{}};
    for (int64_t slot = 0; slot < shape_.slots; ++slot) {
      spec.name = slot_name(slot, name);
      table_.add(spec);
    }
  }

  // Later layers keep what the first one keeps, and more.
  void add_shared(const LayerRow& row) {
    if (drops(0, row)) {
      TensorSpec spec = activation(shared_name(row.name), row, {});
      spec.lives = lives_of(RowLife::LayerPasses, tick_);
      table_.add(std::move(spec));
      return;
    }
    for (int64_t set = 0; set < std::min<int64_t>(shape_.offload_layers, 2); ++set)
      table_.add(
          activation(offload_name(set, row.name), row, {tick_.forward(0) - 1, tick_.backward(0)}));
  }

  void add_kept(const LayerRow& row, int layer) {
    const auto place = offload_place(layer, tick_.L, shape_.offload_layers);
    if (!place) {
      add_slots(activation(layer_name(layer, row.name), row,
                           {tick_.forward(layer) - 1, tick_.backward(layer)}));
    } else if (is_copied_to_host(*place, shape_.offload_layers)) {
      TensorSpec spec = activation(host_name(*place, row.name), row,
                                   {tick_.forward(layer), tick_.backward(layer)});
      spec.space = MemorySpace::Pinned;
      table_.add(std::move(spec));
    }
  }

  const TrainShape& shape_;
  const Ticks tick_;
  TensorTable table_;
};

}  // namespace

ActivationPolicy policy_of(const TrainShape& shape, int64_t layer, int64_t num_layers) {
  return layer < num_layers - shape.keep_layers ? shape.policy : ActivationPolicy::None;
}

TensorTable transformer_train_table(const ModelConfig& c, const TrainShape& shape) {
  check_compute(shape.compute);
  check(shape.keep_layers == 0 || shape.offload_layers == 0, ErrorCode::Internal,
        "a tensor table expected layers to keep or to offload, got {} and {}", shape.keep_layers,
        shape.offload_layers);
  check(shape.slots == 1 || shape.offload_layers == 0, ErrorCode::Internal,
        "a tensor table expected one slot where layers are offloaded, got {}", shape.slots);
  TrainTable table(c, shape);
  table.add(input_rows(c, shape));
  table.add(layer_rows(c, shape.B, shape.T, shape.compute, shape.fp8));
  table.add(fp8_rows(c, shape));
  table.add(output_rows(c, shape));
  return table.take();
}

std::optional<int64_t> offload_place(int64_t layer, int64_t num_layers, int64_t num_offloaded) {
  const int64_t place = (layer * num_offloaded + num_layers - 1) / num_layers;
  const bool is_offloaded = place < num_offloaded && place * num_layers / num_offloaded == layer;
  return is_offloaded ? std::optional(place) : std::nullopt;
}

TensorId layer_row(const TensorTable& table, int64_t layer, std::optional<int64_t> place,
                   std::string_view what, int64_t slot) {
  const std::string own =
      place ? offload_name(*place, what) : slot_name(slot, layer_name(layer, what));
  const TensorId found = table.try_find(own);
  return found.valid() ? found : table.try_find(shared_name(what));
}

std::string offload_name(int64_t place, std::string_view what) {
  return fmt::format("offload.{}.{}", place % 2, what);
}

bool is_copied_to_host(int64_t place, int64_t num_offloaded) {
  return place >= 0 && place < num_offloaded - 2;
}

std::string host_name(int64_t place, std::string_view what) {
  return fmt::format("host.{}.{}", place, what);
}

std::string slot_name(int64_t slot, std::string_view name) {
  return slot == 0 ? std::string(name) : fmt::format("slot.{}.{}", slot, name);
}

}  // namespace ingot
