#include "spec/run/run_config.h"

#include <algorithm>
#include <iterator>

#include "spec/model/model_settings.h"

namespace ingot {

std::vector<std::pair<std::string, OptimKind>> optim_kinds() {
  return {
#define OPTIMIZER(Kind, name) {#name, OptimKind::Kind},
#include "spec/settings/optimizers.inc"
#undef OPTIMIZER
  };
}

namespace {

#include "spec/settings/rows.h"

void append_rows(DataConfig& section, std::vector<Setting>& rows) {
  const std::string prefix = "data.";
#include "spec/settings/data.def"
}

void append_rows(BatchConfig& section, std::vector<Setting>& rows) {
  const std::string prefix = "batch.";
#include "spec/settings/batch.def"
}

void append_rows(OptimConfig& section, std::vector<Setting>& rows) {
  const std::string prefix = "optim.";
#include "spec/settings/optim.def"
}

void append_rows(ScheduleConfig& section, std::vector<Setting>& rows) {
  const std::string prefix = "optim.schedule.";
#include "spec/settings/schedule.def"
}

void append_rows(TrainConfig& section, std::vector<Setting>& rows) {
  const std::string prefix = "train.";
#include "spec/settings/train.def"
}

void append_rows(CheckpointConfig& section, std::vector<Setting>& rows) {
  const std::string prefix = "checkpoint.";
#include "spec/settings/checkpoint.def"
}

void append_rows(SystemConfig& section, std::vector<Setting>& rows) {
  const std::string prefix = "system.";
#include "spec/settings/system.def"
}

#include "spec/settings/end.h"

std::vector<Setting> declare_all(RunConfig& c) {
  std::vector<std::string> names = model_preset_names();
  names.emplace_back(kNoPreset);
  std::vector<Setting> all = {choice_setting(
      "preset", std::move(names), [&c] { return c.preset; },
      [&c](const std::string& name) {
        c.preset = name;
        if (name == kNoPreset) return;
        c.model = model_preset(name);
        // What follows from dim and heads is decided when these are.
        if (c.model.head_dim * c.model.heads == c.model.dim) c.model.head_dim = 0;
        c.model.kv_heads = 0;
      },
      "Model shape that the [model] section starts from; none: that of train.init.")};
  std::ranges::move(model_settings(c.model), std::back_inserter(all));
  append_rows(c.data, all);
  append_rows(c.batch, all);
  append_rows(c.optim, all);
  append_rows(c.optim.schedule, all);
  append_rows(c.train, all);
  append_rows(c.checkpoint, all);
  append_rows(c.system, all);
  return all;
}

}  // namespace

std::vector<Setting> settings_of(RunConfig& config) {
  RunConfig defaults;
  std::vector<Setting> settings = declare_all(config);
  const std::vector<Setting> default_settings = declare_all(defaults);
  for (size_t i = 0; i < settings.size(); ++i)
    settings[i].default_value = default_settings[i].get();
  return settings;
}

}  // namespace ingot
