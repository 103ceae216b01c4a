// A small run to save and load: four parameters of awkward sizes, stores of any layout, and values
// that depend only on what, which and where.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/choice.h"
#include "checkpoint/elements.h"
#include "core/random/random.h"
#include "parallel/comm/world.h"
#include "spec/rows/store_rows.h"
#include "support/block_order.h"

namespace ingot::checkpoint_test {

inline const std::string kRun = "runs/test";

inline TensorTable small_parameters() {
  TensorTable table;
  const auto add = [&](const char* name, Shape shape, int block) {
    TensorSpec row;
    row.name = name;
    row.shape = shape;
    row.kind = TensorKind::Weight;
    row.role = Role::Matrix;
    row.init = InitRule::Normal;
    row.block = block;
    table.add(row);
  };
  add("embedding.weight", {5, 3}, 0);
  add("layers.0.out.weight", {7}, 1);
  add("layers.0.up.weight", {61, 5}, 1);  // more than the smallest shard
  add("head.weight", {1}, 2);
  return table;
}

// The value of element `index` of "weight", "moment1" or "moment2" of a parameter after `step`.
inline float value_of(const std::string& what, const std::string& name, int64_t index,
                      int64_t step) {
  return RandomStream(7, Purpose::Test, tensor_id(what + ":" + name), static_cast<uint64_t>(step))
      .normal(static_cast<uint64_t>(index));
}

// The same with more bits than a float has, as F64 is filled.
inline double wide_value_of(const std::string& what, const std::string& name, int64_t index,
                            int64_t step) {
  return double{value_of(what, name, index, step)} * (1.0 + 0x1p-40);
}

// One rank's memory and store.
class Rank {
 public:
  Rank(World& world, DataParallel mode, DType compute = DType::F32, DType moments = DType::F32)
      : parameters(small_parameters()),
        pool_(1),
        ctx_{.device = Device::cpu(), .pool = &pool_, .workspace = {}},
        mode_(mode),
        layout_(data_layout(world.size(), mode)),
        placed_(rows(compute, moments), Device::cpu()),
        store(make_parameter_store(ctx_, world, parameters, layout_, placed_, compute)) {}

  // Calls visit(what, parameter's name, shard range, flat tensor) for all that a checkpoint keeps.
  void for_each(const std::function<void(const std::string&, const std::string&, ShardRange,
                                         const Tensor&)>& visit) const {
    for (const ParameterShard& shard : store->shards()) {
      const std::string& name = parameters[shard.parameter].name;
      visit("weight", name, shard.range, shard.master);
      for (size_t i = 0; i < shard.states.size(); ++i)
        visit(shard.state_names[i], name, shard.range, shard.states[i]);
    }
  }

  void fill(int64_t step) {
    for_each([&](const auto& what, const auto& name, ShardRange range, const Tensor& tensor) {
      for (int64_t i = 0; i < range.size(); ++i) {
        const float value = value_of(what, name, range.begin + i, step);
        if (tensor.dtype == DType::F64) {
          tensor.as<double>()[i] = wide_value_of(what, name, range.begin + i, step);
        } else if (tensor.dtype == DType::BF16) {
          tensor.as<Bf16>()[i] = Bf16::from_float(value);
        } else {
          tensor.as<float>()[i] = value;
        }
      }
    });
  }

  void expect_filled(int64_t step) const {
    for_each([&](const auto& what, const auto& name, ShardRange range, const Tensor& tensor) {
      for (int64_t i = 0; i < range.size(); ++i) {
        const float value = value_of(what, name, range.begin + i, step);
        if (tensor.dtype == DType::F64) {
          EXPECT_EQ(tensor.as<double>()[i], wide_value_of(what, name, range.begin + i, step));
        } else if (tensor.dtype == DType::BF16) {
          EXPECT_EQ(tensor.as<Bf16>()[i].bits, Bf16::from_float(value).bits) << what << " " << name;
        } else {
          EXPECT_EQ(tensor.as<float>()[i], value) << what << " " << name << " " << range.begin + i;
        }
      }
    });
  }

  TensorTable parameters;

 private:
  TensorTable rows(DType compute, DType moments) const {
    TensorTable table;
    RunConfig config;
    config.optim.moments = moments;
    config.system.data_parallel = mode_;
    StoreOptions options = store_options(config, /*one_micro_step=*/false);
    options.order = testing::forward_and_back(1 + parameters.rows().back().block);
    add_store_rows(table, parameters, compute, layout_, options);
    return table;
  }

  ThreadPool pool_;
  Context ctx_;
  DataParallel mode_;
  Layout layout_;
  PlacedTensors placed_;

 public:
  std::unique_ptr<ParameterStore> store;
};

// Weights by a function of name and element.
class MadeWeights : public Weights {
 public:
  using Value = std::function<float(const std::string& name, int64_t index)>;
  explicit MadeWeights(Value value, ModelConfig model = {})
      : value_(std::move(value)), model_(std::move(model)) {}
  const ModelConfig& model() const override { return model_; }
  DType dtype(const std::string&) const override { return DType::F32; }
  void read(const std::string& name, ShardRange range, const Tensor& out) const override {
    std::vector<float> values;
    for (int64_t i = range.begin; i < range.end; ++i) values.push_back(value_(name, i));
    convert_elements(Tensor::contiguous(values.data(), DType::F32, {range.size()}),
                     out.reshape({range.size()}));
  }

 private:
  Value value_;
  ModelConfig model_;
};

inline RunState state_of(int64_t step) {
  return {step, step * 1000, step * 10, 1.0 / 3.0};
}

// Saves the run as it is after `step`, on `ranks` ranks.
inline void save(Storage& storage, int64_t step, int ranks = 1,
                 DataParallel mode = DataParallel::Replicated, const std::string& tokenizer = "") {
  run_local_ranks(ranks, Device::cpu(), [&](World& world) {
    Rank rank(world, mode);
    rank.fill(step);
    save_checkpoint(storage, world.control(), kRun, RunConfig{}, state_of(step), rank.parameters,
                    *rank.store, {.tokenizer = tokenizer});
  });
}

// Loads it on `ranks` ranks and expects every bit of `step`.
inline void expect_loads(const std::shared_ptr<Storage>& storage, const std::string& dir,
                         int64_t step, int ranks = 1,
                         DataParallel mode = DataParallel::Replicated) {
  run_local_ranks(ranks, Device::cpu(), [&](World& world) {
    Rank rank(world, mode);
    const RunState state =
        load_checkpoint(CheckpointReader(storage, dir), rank.parameters, *rank.store);
    EXPECT_EQ(state.step, step);
    EXPECT_EQ(state.tokens, step * 1000);
    EXPECT_EQ(state.samples, step * 10);
    EXPECT_EQ(state.last_loss, 1.0 / 3.0);
    rank.expect_filled(step);
  });
}

inline std::string step_dir(int64_t step) {
  std::string digits = std::to_string(step);
  return kRun + "/step_" + std::string(8 - digits.size(), '0') + digits;
}

inline void overwrite(Storage& storage, const std::string& path, const std::string& text) {
  storage.create(path)->append(std::as_bytes(std::span(text)));
}

inline void flip_byte(Storage& storage, const std::string& path, size_t at) {
  std::string text = read_text(storage, path);
  text[at] = static_cast<char>(text[at] ^ 1);
  overwrite(storage, path, text);
}

inline std::shared_ptr<Storage> empty_run() {
  auto storage = memory_storage();
  storage->make_directories(kRun);
  return storage;
}

}  // namespace ingot::checkpoint_test
