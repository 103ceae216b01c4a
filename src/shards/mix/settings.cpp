#include "core/error/error.h"
#include "shards/mix/mix.h"
#include "spec/settings/toml_tree.h"

namespace ingot {

#include "spec/settings/rows.h"

std::vector<Setting> settings_of(MixSettings& section) {
  const std::string prefix;
  std::vector<Setting> rows;
#include "shards/mix/mix.def"
  return rows;
}

std::vector<Setting> settings_of(MixSource& section) {
  const std::string prefix = "source.";
  std::vector<Setting> rows;
#include "shards/mix/mix_source.def"
  return rows;
}

#include "spec/settings/end.h"

MixSettings parse_mix(std::string_view toml, std::string_view origin) {
  MixSettings settings;
  const auto add = [&] { return settings_of(settings.sources.emplace_back()); };
  const auto finish = [&] {
    std::string& path = settings.sources.back().path;
    check(!path.empty(), ErrorCode::Config, "source.path: expected a folder of shards");
    path = path_in_file(origin, path);
  };
  apply_toml(toml, origin, {}, settings_of(settings), kSettingsPage, {{"source", add, finish}});
  check(!settings.sources.empty(), ErrorCode::Config,
        "{}: expected at least one [[source]] with a path", origin);
  check(settings.train_tokens + settings.valid_tokens + settings.test_tokens > 0, ErrorCode::Config,
        "{}: expected train_tokens, valid_tokens or test_tokens", origin);
  return settings;
}

}  // namespace ingot
