// config.json of a Hugging Face folder: the shape of a model.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "checkpoint/exchange/architecture.h"
#include "spec/model/model_config.h"

namespace ingot {

struct HfModel {
  const Architecture* architecture = nullptr;
  ModelConfig model;
};

// Throws ErrorCode::Data, naming `path` and the member, where the architecture is not known, a
// member is missing, has a value that is not computed here, or is not known: it could change what
// the model computes.
HfModel parse_hf_config(std::string_view text, const std::string& path);

// What parse_hf_config() reads as the same model, without what says nothing of it. Throws
// ErrorCode::Config where the architecture has no word for what the model has.
nlohmann::ordered_json hf_config_of(const ModelConfig& model, const Architecture& architecture);

// The architecture that `model` is, `preferred` (a name, or empty) before others. Throws
// ErrorCode::Config, naming settings, where none has words for it.
const Architecture& architecture_of(const ModelConfig& model, std::string_view preferred);

}  // namespace ingot
