#include "spec/mixture_config.h"

#include "core/error.h"
#include "spec/settings.h"
#include "spec/toml.h"
#include "spec/toml_tree.h"

namespace ingot {
namespace {

double positive_number(const toml::node& node, std::string_view key, double max,
                       const std::string& place) {
  const auto number = node.value<double>();
  check(number && *number > 0 && *number <= max, ErrorCode::Config,
        "{}: {}: expected a number above 0 and at most {}", place, key, max);
  return *number;
}

MixtureSource parse_source(const toml::table& table, std::string_view origin) {
  MixtureSource source;
  for (const auto& [key, node] : table) {
    const std::string place = at_line(origin, key.source());
    const std::string_view name = key.str();
    if (name == "path") {
      const auto path = node.value<std::string>();
      check(path && !path->empty(), ErrorCode::Config, "{}: path: expected text", place);
      source.path = path_in_file(origin, *path);
    } else if (name == "weight") {
      source.weight = positive_number(node, name, 1e6, place);
    } else if (name == "max_epochs") {
      source.max_epochs = positive_number(node, name, 1e9, place);
    } else {
      throw Error(ErrorCode::Config,
                  fmt::format("{}: unknown key \"{}\": expected path, weight or max_epochs", place,
                              on_one_line(name)));
    }
  }
  check(!source.path.empty(), ErrorCode::Config, "{}: a source without a path",
        at_line(origin, table.source()));
  return source;
}

}  // namespace

std::vector<MixtureSource> parse_mixture(std::string_view text, std::string_view origin) {
  const toml::table file = parse_toml(text, origin, "a mixture");
  const toml::array* list = file["source"].as_array();
  check(list != nullptr && !list->empty() && file.size() == 1, ErrorCode::Config,
        "{}: expected [[source]] sections and nothing else; each has path, weight and, if wanted, "
        "max_epochs",
        origin);
  std::vector<MixtureSource> sources;
  for (const toml::node& node : *list) {
    check(node.is_table(), ErrorCode::Config, "{}: source: expected a section",
          at_line(origin, node.source()));
    sources.push_back(parse_source(*node.as_table(), origin));
  }
  return sources;
}

}  // namespace ingot
