#include "cli/frame/command.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/storage/storage.h"
#include "spec/run/no_effect.h"
#include "spec/settings/said_settings.h"
#include "train/start/resume.h"

namespace ingot::cli {
namespace {

// What a recipe with train.init leaves open: a model, and the tokenizer that it was trained with.
RunConfig with_model_of(const ModelConfig& model, const std::string& tokenizer) {
  RunConfig base;
  base.preset = kNoPreset;
  base.model = model;
  base.data.tokenizer = tokenizer;
  return base;
}

std::shared_ptr<CheckpointChoice> choice_of(const std::string& init) {
  const auto storage = posix_storage();
  check(storage->exists(init), ErrorCode::Config,
        "train.init: {} does not exist; a run that began from it resumes without it", init);
  return std::make_shared<CheckpointChoice>(storage, init);
}

}  // namespace

void RecipeOptions::add_to(Command& command, bool recipe_required) {
  auto* recipe = command.add_option("recipe", path, "recipe file (TOML); see recipes/");
  if (recipe_required) recipe->required();
  add_sets(command, sets, "override a setting: --set optim.lr=3e-4 (repeatable)");
}

LoadedRun RecipeOptions::load() const {
  const std::string text = path.empty() ? std::string() : read_text(*posix_storage(), path);
  RunConfig config = parse_run_config(text, path, parse_sets(sets));
  if (config.train.init.empty()) return {.config = std::move(config)};
  auto init = choice_of(config.train.init);
  const CheckpointReader* newest = init->readable();
  if (newest == nullptr) throw init->none();
  const auto base = with_model_of(newest->info().model, newest->info().tokenizer);
  return {.config = parse_run_config(text, path, parse_sets(sets), base), .init = std::move(init)};
}

LoadedRun RecipeOptions::load_to_resume() const {
  const std::string text = read_text(*posix_storage(), path);
  Overrides overrides = parse_sets(sets);
  const SaidSettings said(text, path, overrides);
  const std::string dir = said.find("checkpoint.dir").value_or(RunConfig().checkpoint.dir);
  const auto saved = find_saved_run(posix_storage(), dir);
  if (!saved) return load();
  const RunConfig& begun = saved->config;
  const bool from_init = !said.find("train.init").value_or("").empty();
  // Older programs took the preset's number, whatever model.heads was.
  if (!said.has("model.kv_heads"))
    overrides.emplace_back("model.kv_heads", std::to_string(begun.model.kv_heads));
  // A step stays as large as it was, by whatever ranks it is computed.
  if (!said.has("batch.tokens") && begun.batch.tokens > 0)
    overrides.emplace_back("batch.tokens", std::to_string(begun.batch.tokens));
  LoadedRun run{.config = from_init
                              ? parse_run_config(text, path, overrides,
                                                 with_model_of(begun.model, begun.data.tokenizer))
                              : parse_run_config(text, path, overrides),
                .checkpoints = saved->checkpoints};
  check_steps_fit(dir, begun, run.config);
  return run;
}

void JsonOption::add_to(Command& command) {
  command.add_flag("--json", wanted, "end stdout with one line of JSON");
}

void JsonOption::print(const nlohmann::json& result) const {
  // Bytes that are no UTF-8 have no place in JSON: U+FFFD stands for them.
  if (wanted)
    fmt::print("{}\n", result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void add_sets(Command& command, std::vector<std::string>& sets, const std::string& help) {
  command.add_option("--set", sets, help)
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->suggest([] {
        RunConfig config;
        std::vector<std::string> names;
        for (const Setting& setting : settings_of(config)) names.push_back(setting.name + "=");
        return names;
      });
}

Overrides parse_sets(const std::vector<std::string>& sets) {
  Overrides overrides;
  for (const std::string& set : sets) {
    const size_t equals = set.find('=');
    check(equals != std::string::npos && equals > 0, ErrorCode::Usage,
          "--set expected KEY=VALUE, got \"{}\"", set);
    const std::string key = set.substr(0, equals), value = set.substr(equals + 1);
    const auto earlier = std::find_if(overrides.rbegin(), overrides.rend(),
                                      [&](const auto& other) { return other.first == key; });
    if (earlier != overrides.rend() && earlier->second != value)
      log::warn("set_twice", {{"setting", key}, {"used", value}, {"ignored", earlier->second}});
    overrides.emplace_back(key, value);
  }
  return overrides;
}

void warn_of_no_effect(const RunConfig& config) {
  for (const NoEffect& found : settings_without_effect(config))
    log::warn("no_effect", {{"setting", found.setting}, {"why", found.why}});
}

void SettingOptions::add(const std::string& setting, const Option* option) {
  options_.emplace_back(setting, option);
}

Overrides SettingOptions::overrides(const std::vector<std::string>& sets) const {
  Overrides all;
  for (const auto& [setting, option] : options_) all.emplace_back(setting, option->value());
  for (auto& [key, value] : parse_sets(sets)) {
    for (const auto& [setting, option] : options_)
      check(!option->is_given() || setting != key || option->value() == value, ErrorCode::Usage,
            "{} {} and --set {}={}: leave one of them out", option->name(), option->value(), key,
            value);
    all.emplace_back(std::move(key), std::move(value));
  }
  return all;
}

void add_settings(Command& command, const std::vector<Setting>& settings,
                  const std::vector<std::string>& names) {
  for (const Setting& setting : settings) {
    const std::string name = setting.name.substr(setting.name.rfind('.') + 1);
    if (names.empty() || std::find(names.begin(), names.end(), name) != names.end())
      command.add_setting(setting);
  }
}

}  // namespace ingot::cli
