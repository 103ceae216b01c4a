// Sizes and counts as people read them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace ingot {

inline std::string format_count(int64_t count) {  // 21004113 -> "21,004,113"
  std::string text = fmt::format("{}", count);
  for (auto i = static_cast<int64_t>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(text.begin() + i, ',');
  }
  return text;
}

inline std::string format_bytes(int64_t bytes) {  // decimal units, as disks are sold
  if (bytes < 1'000) return fmt::format("{} B", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace ingot
