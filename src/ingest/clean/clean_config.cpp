#include "ingest/clean/clean_config.h"

#include <fmt/format.h>

#include <algorithm>

namespace ingot {
namespace {

CleanSettings parse(std::string_view toml, std::string_view origin, const Overrides& overrides) {
  CleanSettings settings = clean_preset("datatrove-0.10");
  apply_toml(toml, origin, overrides, settings_of(settings), "ingot data clean --print-config");
  return settings;
}

// Where something was said about a setting; what stands behind wins.
enum class Place { Nowhere, File, Override };

// Options of a filter that is off do nothing. They may stay in a file whose filter was turned off
// on purpose, there or by an override; else whoever wrote them expects them to count.
void refuse_unused(const CleanSettings& settings, std::string_view toml, std::string_view origin,
                   const Overrides& overrides) {
  CleanSettings preset = clean_preset(settings.preset);
  CleanSettings in_file = parse(toml, origin, {{"preset", settings.preset}});
  const auto place_of = [&](const Setting& was, const Setting& becomes) {
    const auto is_its = [&](const auto& entry) { return entry.first == was.name; };
    if (std::any_of(overrides.begin(), overrides.end(), is_its)) return Place::Override;
    return was.get() == becomes.get() ? Place::Nowhere : Place::File;
  };
  for (size_t i = 0; i < settings.filters.size(); ++i) {
    if (settings.filters[i]->enabled) continue;
    const std::string name(settings.filters[i]->name());
    const Setting was_on = flag_setting(name + ".enabled", preset.filters[i]->enabled, "");
    const Setting is_on = flag_setting(name + ".enabled", in_file.filters[i]->enabled, "");
    const Place turned_off = place_of(was_on, is_on);
    const std::vector<Setting> before = preset.filters[i]->declare();
    const std::vector<Setting> after = in_file.filters[i]->declare();
    for (size_t k = 0; k < before.size(); ++k) {
      const Place written = place_of(before[k], after[k]);
      const bool is_meant = written == Place::Nowhere || written < turned_off ||
                            (written == Place::File && turned_off == Place::File);
      check(
          is_meant, ErrorCode::Config,
          "{}: the filter {} is off, so that this would do nothing: turn it on by {}.enabled=true, "
          "or leave {} out",
          before[k].name, name, name, before[k].name);
    }
  }
}

}  // namespace

CleanSettings parse_clean_config(std::string_view toml, std::string_view origin,
                                 const Overrides& overrides) {
  CleanSettings settings = parse(toml, origin, overrides);
  validate(settings);
  refuse_unused(settings, toml, origin, overrides);
  return settings;
}

std::string to_toml(const CleanSettings& settings) {
  CleanSettings copy = settings;
  std::string text, section;
  for (const Setting& setting : settings_of(copy)) {
    const size_t dot = setting.name.find('.');
    if (dot != std::string::npos && setting.name.substr(0, dot) != section) {
      section = setting.name.substr(0, dot);
      text += fmt::format("\n[{}]\n", section);
    }
    const std::string key = dot == std::string::npos ? setting.name : setting.name.substr(dot + 1);
    text += fmt::format("{} = {}", key, toml_text(setting.get()));
    text += setting.doc.empty() ? "\n" : fmt::format("  # {}\n", setting.doc);
  }
  return text;
}

}  // namespace ingot
