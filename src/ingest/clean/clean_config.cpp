#include "ingest/clean/clean_config.h"

#include <fmt/format.h>

namespace ingot {

CleanSettings parse_clean_config(std::string_view toml, std::string_view origin,
                                 const Overrides& overrides) {
  CleanSettings settings = clean_preset("datatrove-0.10");
  apply_toml(toml, origin, overrides, settings_of(settings), "ingot data clean --print-config");
  validate(settings);
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
