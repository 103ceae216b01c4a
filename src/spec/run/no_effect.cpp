#include "spec/run/no_effect.h"

#include <algorithm>

namespace ingot {
namespace {

struct Rule {
  std::string_view settings;  // a name, or the beginning of several
  std::string_view why;
  bool (*applies)(const RunConfig& config);
};

template <RopeScaling... used_by>
bool other_scaling(const RunConfig& c) {
  return ((c.model.rope.scaling != used_by) && ...);
}

bool is_not_validated(const RunConfig& c) {
  return c.data.valid.empty() && c.data.valid_fraction == 0;
}

// Or a mixture of some.
bool may_be_token_file(const std::string& path) {
  return path.ends_with(".bin") || path.ends_with(".toml");
}

constexpr Rule kRules[] = {
    {"optim.muon_", "optim.kind is not muon",
     [](const RunConfig& c) { return c.optim.kind != OptimKind::Muon; }},
    {"model.rope.", "model.positions are learned",
     [](const RunConfig& c) { return c.model.positions == Positions::Learned; }},
    {"model.rope.factor", "model.rope.scaling is none",
     other_scaling<RopeScaling::Linear, RopeScaling::Dynamic, RopeScaling::Yarn,
                   RopeScaling::Llama3>},
    {"model.rope.original_context", "model.rope.scaling is not dynamic, yarn or llama3",
     other_scaling<RopeScaling::Dynamic, RopeScaling::Yarn, RopeScaling::Llama3>},
    {"model.rope.low_freq_factor", "model.rope.scaling is not llama3",
     other_scaling<RopeScaling::Llama3>},
    {"model.rope.high_freq_factor", "model.rope.scaling is not llama3",
     other_scaling<RopeScaling::Llama3>},
    {"model.rope.beta_", "model.rope.scaling is not yarn", other_scaling<RopeScaling::Yarn>},
    {"model.rope.attention_factor", "model.rope.scaling is not yarn",
     other_scaling<RopeScaling::Yarn>},
    {"model.window_layers", "model.window is 0",
     [](const RunConfig& c) { return c.model.window == 0; }},
    {"model.qk_norm_span", "model.qk_norm is false",
     [](const RunConfig& c) { return !c.model.qk_norm; }},
    {"data.token_dtype", "no data is a .bin file",
     [](const RunConfig& c) {
       return !may_be_token_file(c.data.train) && !may_be_token_file(c.data.valid);
     }},
    {"data.valid_fraction", "data.valid is set",
     [](const RunConfig& c) { return !c.data.valid.empty(); }},
    {"train.eval_every", "data.valid_fraction is 0 and data.valid is not set", is_not_validated},
    {"train.eval_tokens", "data.valid_fraction is 0 and data.valid is not set", is_not_validated},
};

RunConfig defaults_of(const RunConfig& config) {
  if (config.preset != kNoPreset) return parse_run_config("", "", {{"preset", config.preset}});
  RunConfig defaults;
  defaults.model = config.model;
  return defaults;
}

}  // namespace

std::vector<NoEffect> settings_without_effect(const RunConfig& config) {
  RunConfig copy = config, defaults = defaults_of(config);
  const std::vector<Setting> given = settings_of(copy), usual = settings_of(defaults);
  std::vector<NoEffect> found;
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& name = given[i].name;
    if (given[i].get() == usual[i].get()) continue;
    const auto rule = std::ranges::find_if(
        kRules, [&](const Rule& r) { return name.starts_with(r.settings) && r.applies(config); });
    if (rule != std::end(kRules)) found.push_back({name, std::string(rule->why)});
  }
  return found;
}

}  // namespace ingot
