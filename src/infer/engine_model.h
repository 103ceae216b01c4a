// A model that an engine serves, wherever its weights come from.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/engine.h"
#include "spec/model/model_config.h"
#include "spec/rows/decode_table.h"

namespace ingot {

class EngineModel {
 public:
  virtual ~EngineModel() = default;
  virtual ReplyEngine& engine() = 0;
  virtual const ModelConfig& config() const = 0;
  virtual const DecodeShape& shape() const = 0;
  // Ids that end a reply. Throws ErrorCode::Data if the model came without a tokenizer.
  virtual const std::vector<int32_t>& stop_ids() const = 0;
};

}  // namespace ingot
