// ingot config show | keys
#include <fmt/format.h>

#include <memory>

#include "cli/data/settings_page.h"
#include "cli/frame/command.h"
#include "cli/machine/speed_record.h"
#include "cli/start/machine.h"
#include "cli/start/processes.h"
#include "core/error/error.h"
#include "train/start/plan.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::json;

Json json_of(const SettingValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

// "a\nb" as comment lines of TOML.
std::string as_comment(const std::string& text) {
  std::string out = "# ";
  for (const char c : text) out += c == '\n' ? std::string("\n# ") : std::string(1, c);
  return out;
}

void show(const RecipeOptions& recipe, const JsonOption& json) {
  RunConfig resolved = recipe.load().config;
  const RunConfig here = with_environment(resolved);
  // Without a recipe these are settings to look at, which need no end yet.
  const ValidConfig valid = recipe.path.empty() ? ValidConfig::open_ended(here) : ValidConfig(here);
  check_lengths(resolved);
  warn_of_no_effect(resolved);
  fmt::print("{}# hash {:016x}\n", to_toml(resolved), config_hash(resolved));
  Json line = {{"config_hash", fmt::format("{:016x}", config_hash(resolved))},
               {"settings", Json::object()}};
  for (const Setting& setting : settings_of(resolved))
    line["settings"][setting.name] = json_of(setting.get());
  try {
    const ResolvedRun run = resolve_started(valid);
    const RunPlan plan = plan_of(run);
    fmt::print("{}\n", as_comment(text_of(plan)));
    if (plan.length.steps > 0) fmt::print("{}\n", as_comment(time_text(run, plan.length.tokens)));
    line.update(to_json(plan));
    add_time(line, run, plan.length.tokens);
  } catch (const Error& error) {  // good settings, of another machine
    fmt::print("# it would not run here: {}\n", error.what());
  }
  json.print(line);
}

Json json_of(const Setting& setting, const std::string& section) {
  Json row = {{"name", setting.name},
              {"of", section},
              {"default", json_of(setting.default_value)},
              {"unit", setting.unit},
              {"may_change_on_resume", setting.scope != SettingScope::Fixed},
              {"doc", setting.doc}};
  if (!setting.choices.empty()) row["choices"] = setting.choices;
  if (setting.min != setting.max) row["min"] = setting.min, row["max"] = setting.max;
  return row;
}

void print_keys(const JsonOption& json) {
  fmt::print("{}", settings_reference());
  RunConfig defaults;
  Json line = Json::array();
  for (const Setting& setting : settings_of(defaults)) line.push_back(json_of(setting, "run"));
  fmt::print("\n# Settings of data\n");
  for (const auto& [name, intro, settings] : data_setting_sections()) {
    fmt::print("\n## {}\n\n{}\n{}", name, intro, settings_rows(settings));
    for (const Setting& setting : settings) line.push_back(json_of(setting, name));
  }
  json.print(line);
}

}  // namespace

void add_config_show(Command& config) {
  auto* command = config.add_subcommand(
      "show", "check a recipe; print its resolved settings, their hash and what it would take");
  auto recipe = std::make_shared<RecipeOptions>();
  auto json = std::make_shared<JsonOption>();
  recipe->add_to(*command, /*recipe_required=*/false);
  json->add_to(*command);
  command->callback([recipe, json] { show(*recipe, *json); });
}

void add_config_keys(Command& config) {
  auto* command =
      config.add_subcommand("keys", "list every setting: name, default, range, meaning");
  auto json = std::make_shared<JsonOption>();
  json->add_to(*command);
  command->callback([json] { print_keys(*json); });
}

}  // namespace ingot::cli
