// The model that is being trained, ready to score and to write: its weights as they are now.
#pragma once

#include <memory>
#include <vector>

#include "core/device/context.h"
#include "infer/engine_model.h"
#include "parallel/shard/parameter_store.h"
#include "spec/table/placed_tensors.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

class LiveModel final : public EngineModel {
 public:
  // Between two steps, on every rank of the store: reads the weights in its compute dtype, which
  // ranks that share them gather block after block. `placed` has the rows of
  // add_scoring_rows(config, shape). All arguments but the ids must outlive it.
  LiveModel(const Context& ctx, const ModelConfig& config, const DecodeShape& shape,
            const PlacedTensors& placed, ParameterStore& store, const Tokenizer& tokenizer,
            std::vector<int32_t> stop_ids);
  ~LiveModel() override;

  ReplyEngine& engine() override;
  const ModelConfig& config() const override;
  const DecodeShape& shape() const override;
  const std::vector<int32_t>& stop_ids() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
