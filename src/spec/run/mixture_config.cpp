#include "spec/run/mixture_config.h"

#include "core/error/error.h"
#include "spec/settings/toml_tree.h"

namespace ingot {

#include "spec/settings/rows.h"

std::vector<Setting> settings_of(MixtureSource& section) {
  const std::string prefix = "source.";
  std::vector<Setting> rows;
#include "spec/settings/source.def"
  return rows;
}

#include "spec/settings/end.h"

std::vector<MixtureSource> parse_mixture(std::string_view text, std::string_view origin) {
  std::vector<MixtureSource> sources;
  const auto add = [&] { return settings_of(sources.emplace_back()); };
  const auto finish = [&] {
    std::string& path = sources.back().path;
    check(!path.empty(), ErrorCode::Config, "a source without a path");
    path = path_in_file(origin, path);
  };
  apply_toml(text, origin, {}, {}, kSettingsPage, {{"source", add, finish}});
  check(!sources.empty(), ErrorCode::Config, "{}: expected at least one [[source]] with a path",
        origin);
  return sources;
}

}  // namespace ingot
