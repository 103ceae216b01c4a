// What the commands share. A command registers itself on the app and throws Error when it fails;
// main turns that into an exit code.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "spec/run_config.h"

namespace ingot::cli {

// One per file of this folder.
void add_bench(Command& app);
void add_checkpoint(Command& app);
void add_config(Command& app);
void add_data(Command& app);
void add_generate(Command& app);
void add_quickstart(Command& app);
void add_tokenizer(Command& app);
void add_train(Command& app);

std::string version_text();

// RECIPE.toml plus --set overrides, as config, train and bench take them.
struct RecipeOptions {
  std::string path;               // empty: defaults only
  std::vector<std::string> sets;  // "key=value"

  void add_to(Command& command, bool recipe_required);
  RunConfig load() const;
};

// --json: one line of JSON as the last line of stdout.
struct JsonOption {
  bool wanted = false;
  void add_to(Command& command);
  void print(const nlohmann::json& result) const;
};

// "a=b" → {"a", "b"}; throws ErrorCode::Usage without '='.
Overrides parse_sets(const std::vector<std::string>& sets);

}  // namespace ingot::cli
