#include "spec/model/model_settings.h"

#include "core/error/error.h"

namespace ingot {

#include "spec/settings/rows.h"

std::vector<Setting> model_settings(ModelConfig& model) {
  std::vector<Setting> rows;
  {
    const std::string prefix = "model.";
    ModelConfig& section = model;
#include "spec/settings/model.def"
  }
  {
    const std::string prefix = "model.rope.";
    RopeConfig& section = model.rope;
#include "spec/settings/rope.def"
  }
  return rows;
}

#include "spec/settings/end.h"

const Setting& ModelFields::operator[](std::string_view name) const {
  for (const Setting& setting : settings_)
    if (std::string_view(setting.name).substr(6) == name) return setting;  // after "model."
  throw Error(ErrorCode::Internal, fmt::format("no setting is called model.{}", name));
}

}  // namespace ingot
