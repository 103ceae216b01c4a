// ingot config show | keys
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"

namespace ingot::cli {

void add_config(Command& app) {
  auto* config =
      app.add_subcommand("config", "show what a run would do, and every setting there is");

  auto* show = config->add_subcommand("show", "print the resolved config of a recipe and its hash");
  auto recipe = std::make_shared<RecipeOptions>();
  recipe->add_to(*show, /*recipe_required=*/false);
  show->callback([recipe] {
    const RunConfig resolved = recipe->load();
    fmt::print("{}# hash {:016x}\n", to_toml(resolved), config_hash(resolved));
  });

  auto* keys = config->add_subcommand("keys", "list every setting: name, default, range, meaning");
  keys->callback([] { fmt::print("{}", settings_reference()); });
}

}  // namespace ingot::cli
