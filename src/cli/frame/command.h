// What all commands share. A command registers itself on the program. If it fails it throws Error,
// which main turns into an exit code.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoint/choice.h"
#include "cli/frame/command_line.h"
#include "spec/run/run_config.h"

namespace ingot::cli {

// Adds every command of the program, in the order of the help. This is the only list of commands.
void add_commands(Command& program);

std::string version_text();
// Distinguishes this build of the program from others.
std::string build_text();

// A run's settings, with the checkpoints that were opened for them: they are not opened again.
struct LoadedRun {
  RunConfig config;
  std::shared_ptr<CheckpointChoice> init = nullptr;         // of train.init
  std::shared_ptr<CheckpointChoice> checkpoints = nullptr;  // of the run that is resumed
};

// RECIPE.toml and --set overrides, as config, train and bench take them.
struct RecipeOptions {
  std::string path;               // empty: defaults only
  std::vector<std::string> sets;  // "key=value"

  void add_to(Command& command, bool recipe_required);
  LoadedRun load() const;
  // The same to resume the run in checkpoint.dir, if there is one. That run then decides kv_heads
  // and the settings that the recipe leaves to train.init.
  LoadedRun load_to_resume() const;
};

// --json: one line of JSON as the last line of stdout.
struct JsonOption {
  bool wanted = false;
  void add_to(Command& command);
  void print(const nlohmann::json& result) const;
};

// --set KEY=VALUE, repeatable, for any setting of a run.
void add_sets(Command& command, std::vector<std::string>& sets, const std::string& help);

// Adds an option for each setting, or only for those in `names` ("text_field").
void add_settings(Command& command, const std::vector<Setting>& settings,
                  const std::vector<std::string>& names = {});

// "a=b" → {"a", "b"}; throws ErrorCode::Usage if there is no '='. The last value of a setting wins;
// the log names earlier values that differ.
Overrides parse_sets(const std::vector<std::string>& sets);

// Logs the settings that have no effect in this run.
void warn_of_no_effect(const RunConfig& config);

// Options of a command that stand for settings of a run, besides --set.
class SettingOptions {
 public:
  void add(const std::string& setting, const Option* option);
  // The options' values, then `sets`. Throws ErrorCode::Usage if a given option and a --set
  // contradict each other. Also throws like parse_sets().
  Overrides overrides(const std::vector<std::string>& sets) const;

 private:
  std::vector<std::pair<std::string, const Option*>> options_;
};

}  // namespace ingot::cli
