#include "spec/run/run_id.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <vector>

#include "core/error/error.h"
#include "core/text/hex.h"

namespace ingot {
namespace {

bool is_run_id(std::string_view text) {
  return text.size() == 32 && parse_hex(text.substr(0, 16)) && parse_hex(text.substr(16));
}

}  // namespace

std::string draw_run_id() {
  std::random_device random;
  const auto draw = [&] { return hex(uint64_t{random()} << 32 | random()); };
  return draw() + draw();
}

std::string to_toml(const RunConfig& config, const std::string& run_id) {
  return fmt::format("{}\n[run]\nid = \"{}\"\n", to_toml(config), run_id);
}

std::string run_id_of(std::string_view toml, std::string_view origin) {
  std::string id;
  RunConfig config;
  std::vector<Setting> settings = settings_of(config);
  settings.push_back(run_id_row(id));
  apply_toml(toml, origin, {}, settings, kSettingsPage);
  return id;
}

Setting run_id_row(std::string& id) {
  return converted_setting(
      std::string(kRunIdName), "Which run it is.", [&id] { return id; },
      [&id](std::string_view text) {
        check(is_run_id(text), ErrorCode::Config,
              "{}: expected 32 hexadecimal digits, got \"{}\": remove it, a new one is then drawn",
              kRunIdName, on_one_line(text));
        id = text;
      });
}

}  // namespace ingot
