// 64-bit hashes in files: 16 hexadecimal digits.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot {

inline std::string hex(uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

// Nothing if `text` is not exactly 16 such digits.
inline std::optional<uint64_t> parse_hex(std::string_view text) {
  uint64_t hash = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, hash, 16);
  if (text.size() != 16 || error != std::errc() || last != end) return std::nullopt;
  return hash;
}

}  // namespace ingot
