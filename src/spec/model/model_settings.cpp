#include "spec/model/model_settings.h"

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

}  // namespace ingot
