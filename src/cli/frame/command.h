// What the commands share. A command registers itself on the program and throws Error when it
// fails; main turns that into an exit code.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoint/choice.h"
#include "cli/frame/command_line.h"
#include "spec/run/run_config.h"

namespace ingot::cli {

// Every command of the program, in the order of its help; the one place that lists them.
void add_commands(Command& program);

std::string version_text();
// What tells this build of the program from others.
std::string build_text();

// With what settings were taken from: it is not opened again.
struct LoadedRun {
  RunConfig config;
  std::shared_ptr<CheckpointChoice> init = nullptr;         // of train.init
  std::shared_ptr<CheckpointChoice> checkpoints = nullptr;  // of the run that is resumed
};

// RECIPE.toml plus --set overrides, as config, train and bench take them.
struct RecipeOptions {
  std::string path;               // empty: defaults only
  std::vector<std::string> sets;  // "key=value"

  void add_to(Command& command, bool recipe_required);
  LoadedRun load() const;
  // The same to resume the run in checkpoint.dir, if there is one: that run decides kv_heads, and
  // what the recipe leaves to train.init.
  LoadedRun load_to_resume() const;
};

// --json: one line of JSON as the last line of stdout.
struct JsonOption {
  bool wanted = false;
  void add_to(Command& command);
  void print(const nlohmann::json& result) const;
};

// --set KEY=VALUE, repeatable: any setting of a run.
void add_sets(Command& command, std::vector<std::string>& sets, const std::string& help);

// An option for each, or for those of these names alone ("text_field").
void add_settings(Command& command, const std::vector<Setting>& settings,
                  const std::vector<std::string>& names = {});

// "a=b" → {"a", "b"}; throws ErrorCode::Usage without '='. The last value of a setting is used; the
// log names the ones before it that differ.
Overrides parse_sets(const std::vector<std::string>& sets);

// Names the settings that do nothing in this run.
void warn_of_no_effect(const RunConfig& config);

// Options of a command that are settings of a run, beside --set.
class SettingOptions {
 public:
  void add(const std::string& setting, const Option* option);
  // Their values, then `sets`. Throws ErrorCode::Usage where an option that was given and a --set
  // contradict each other, and as parse_sets().
  Overrides overrides(const std::vector<std::string>& sets) const;

 private:
  std::vector<std::pair<std::string, const Option*>> options_;
};

}  // namespace ingot::cli
