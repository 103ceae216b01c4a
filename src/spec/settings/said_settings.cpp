#include "spec/settings/said_settings.h"

#include <algorithm>

#include "spec/settings/toml_tree.h"

namespace ingot {
namespace {

auto last_override(const Overrides& overrides, std::string_view name) {
  return std::find_if(overrides.rbegin(), overrides.rend(),
                      [&](const auto& entry) { return entry.first == name; });
}

}  // namespace

SaidSettings::SaidSettings(std::string_view toml, std::string_view origin,
                           const Overrides& overrides)
    : recipe_(parse_toml_tree(toml, origin)), overrides_(overrides) {}

std::optional<std::string> SaidSettings::find(std::string_view name) const {
  if (const auto found = last_override(overrides_, name); found != overrides_.rend())
    return found->second;
  const nlohmann::json* at = &recipe_;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string key(name.substr(begin, end - begin));
    if (!at->is_object() || !at->contains(key)) return std::nullopt;
    at = &at->at(key);
    begin = end + 1;
  }
  return at->is_string() ? at->get<std::string>() : at->dump();
}

bool SaidSettings::is_overridden(std::string_view name) const {
  return last_override(overrides_, name) != overrides_.rend();
}

}  // namespace ingot
