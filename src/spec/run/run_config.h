// The configuration of a run: all that `ingot train` needs, from a TOML recipe plus --set
// overrides.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/layout/comm_backend.h"
#include "spec/layout/layout.h"
#include "spec/model/activation_policy.h"
#include "spec/model/model_config.h"
#include "spec/model/precision.h"
#include "spec/model/token_dtype.h"
#include "spec/settings/settings.h"

namespace ingot {

enum class ScheduleKind { Cosine, Wsd, Linear, Constant };
enum class ScheduleUnit { Tokens, Steps };
enum class Packing { Concat, BestFit };  // documents concatenated, or kept whole where they fit

enum class OptimKind {
#define OPTIMIZER(Kind, name) Kind,
#include "spec/settings/optimizers.inc"
#undef OPTIMIZER
};
// By their names in optim.kind.
std::vector<std::pair<std::string, OptimKind>> optim_kinds();

// Each field is a row of its section's table, spec/settings/*.def, and is declared only there.
#include "spec/settings/fields.h"

struct DataConfig {
#include "spec/settings/data.def"
};

struct BatchConfig {
#include "spec/settings/batch.def"
};

struct ScheduleConfig {
#include "spec/settings/schedule.def"
};

struct OptimConfig {
#include "spec/settings/optim.def"
  ScheduleConfig schedule;
};

struct TrainConfig {
#include "spec/settings/train.def"
};

struct CheckpointConfig {
#include "spec/settings/checkpoint.def"
};

struct SystemConfig {
#include "spec/settings/system.def"
};

#include "spec/settings/end.h"

// A model that is not a preset: for example, one from imported weights.
inline constexpr std::string_view kNoPreset = "none";

struct RunConfig {
  std::string preset = "llama_10m";
  ModelConfig model;
  DataConfig data;
  BatchConfig batch;
  OptimConfig optim;
  TrainConfig train;
  CheckpointConfig checkpoint;
  SystemConfig system;
};

inline bool uses_fp8(const RunConfig& config) {
  return config.train.precision == Precision::Fp8;
}
inline bool uses_tf32(const RunConfig& config) {
  return config.train.precision == Precision::Tf32;
}

// The declarations, bound to `config`'s fields; `config` must outlive them.
std::vector<Setting> settings_of(RunConfig& config);

// Order: defaults, then the preset (from the recipe or an override), then the recipe, then the
// overrides. If two settings say the same in two ways (train.steps and train.total_tokens,
// optim.schedule.warmup and its fraction), an override's wins over the recipe's. Throws
// ErrorCode::Config for unknown keys (with the nearest name and the line), wrong types and values
// out of range. Does not access files.
RunConfig parse_run_config(std::string_view toml, std::string_view origin,
                           const Overrides& overrides);

// The same with `base` in place of the defaults.
RunConfig parse_run_config(std::string_view toml, std::string_view origin,
                           const Overrides& overrides, const RunConfig& base);

// Whether a resumed run may change this setting from its checkpoint's value: what was trained so
// far stays the same. `setting` is its name, or starts with it ("optim.lr = 1").
bool may_change_on_resume(std::string_view setting);

std::string to_toml(const RunConfig& config);   // every setting, resolved; parses back to the same
std::string to_toml(const ModelConfig& model);  // the same of [model] alone
uint64_t config_hash(
    const RunConfig& config);      // over to_toml, without checkpoint.dir, system.*, logging
std::string settings_reference();  // Markdown page of all settings
// A Markdown table of settings that belong to no run: of a file or a job.
std::string settings_rows(const std::vector<Setting>& settings);

}  // namespace ingot
