#include "core/text/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ingot {

std::string format_count(int64_t count) {
  std::string text = fmt::format("{}", count);
  const int64_t first_digit = count < 0 ? 1 : 0;
  for (auto at = static_cast<int64_t>(text.size()) - 3; at > first_digit; at -= 3)
    text.insert(text.begin() + at, ',');
  return text;
}

std::string format_short_count(int64_t count) {
  constexpr std::array kUnits = {"k", "M", "B", "T", "P"};
  auto value = static_cast<double>(count);
  if (std::abs(value) < 1000) return fmt::format("{}", count);
  size_t unit = 0;
  // 999.5 is where three digits round to a fourth.
  for (value /= 1000; std::abs(value) >= 999.5 && unit + 1 < kUnits.size(); value /= 1000) ++unit;
  const int decimals = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, kUnits[unit]);
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string format_duration(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02d} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02d} min", whole / 3600, whole % 3600 / 60);
}

std::string format_percent(double share, int decimals) {
  return fmt::format("{:.{}f} %", 100 * share, decimals);
}

std::string format_percent(int64_t part, int64_t whole, int decimals) {
  const double share = whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  return format_percent(share, decimals);
}

std::string format_byte_rate(int64_t bytes, double seconds) {
  const double rate = static_cast<double>(bytes) / std::max(seconds, 1e-3);
  return format_bytes(static_cast<int64_t>(rate)) + "/s";
}

}  // namespace ingot
