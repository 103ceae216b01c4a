// Reads and writes config.json of a Hugging Face folder: the shape of a model.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/architecture.h"
#include "core/storage/storage.h"
#include "spec/model/model_config.h"

namespace ingot {

struct HfModel {
  const Architecture* architecture = nullptr;
  ModelConfig model;
  std::vector<int32_t> stop_ids;  // "eos_token_id", an id or a list, as it stands there
};

// A folder's config.json, read and parsed once.
struct HfConfigFile {
  std::string path;  // for messages
  std::string text;
  HfModel hf;
};

// Throws ErrorCode::Data naming `path` and the member if the architecture is unknown, or a member
// is missing, has an unsupported value, or is unknown and so might change the computation.
HfModel parse_hf_config(std::string_view text, const std::string& path);

// Of the folder `dir`; `named_as` is the file's path in messages.
HfConfigFile read_hf_config_file(Storage& storage, const std::string& dir,
                                 const std::string& named_as);

// The model of a parsed config.json; throws MemberError or ErrorCode::Data.
ModelConfig read_hf_config(const nlohmann::json& config, const Architecture& architecture);

// The context of a model with dynamic scaling: `factor` times its original context.
int64_t dynamic_context(ModelConfig model);

// The config.json that parse_hf_config() reads as the same model, without settings that have no
// effect. Throws ErrorCode::Config if the architecture cannot express the model.
nlohmann::ordered_json hf_config_of(const ModelConfig& model, const Architecture& architecture);

// The architecture of `model`; tries `preferred` (a name, or empty) first. Throws ErrorCode::Config
// naming settings that no architecture can express.
const Architecture& architecture_of(const ModelConfig& model, std::string_view preferred);

}  // namespace ingot
