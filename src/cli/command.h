// What the commands share. A command registers itself on the app and throws Error when it fails;
// main turns that into an exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "spec/run_config.h"

namespace ingot::cli {

// One per file of this folder.
void add_bench(CLI::App& app);
void add_checkpoint(CLI::App& app);
void add_config(CLI::App& app);
void add_data(CLI::App& app);
void add_generate(CLI::App& app);
void add_quickstart(CLI::App& app);
void add_tokenizer(CLI::App& app);
void add_train(CLI::App& app);

std::string version_text();

// RECIPE.toml plus --set overrides, as config, train and bench take them.
struct RecipeOptions {
  std::string path;               // empty: defaults only
  std::vector<std::string> sets;  // "key=value"

  void add_to(CLI::App& command, bool recipe_required);
  RunConfig load() const;
};

// --json: one line of JSON as the last line of stdout.
struct JsonOption {
  bool wanted = false;
  void add_to(CLI::App& command);
  void print(const nlohmann::json& result) const;
};

// "a=b" → {"a", "b"}; throws ErrorCode::Usage without '='.
Overrides parse_sets(const std::vector<std::string>& sets);

}  // namespace ingot::cli
