#include "core/text/unicode.h"

#include <unordered_map>

namespace ingot::text {
namespace {

#include "core/text/unicode_data.inc"

constexpr char32_t kHangulBase = 0xAC00, kHangulCount = 11172;
constexpr char32_t kLeadBase = 0x1100, kVowelBase = 0x1161, kTrailBase = 0x11A7;
constexpr char32_t kNumVowels = 21, kNumTrails = 28;

// Positions in kDecompositions of the lengths.
std::unordered_map<char32_t, size_t> index_decompositions() {
  std::unordered_map<char32_t, size_t> places;
  for (size_t i = 0; i < std::size(kDecompositions); i += 2 + kDecompositions[i + 1]) {
    places.emplace(kDecompositions[i], i + 1);
  }
  return places;
}

}  // namespace

const CodePointMap<uint16_t>& properties() {
  static const CodePointMap<uint16_t> map(kPropertyRuns);
  return map;
}

char32_t simple_lower(char32_t code) {
  static const CodePointMap<int32_t> map(kLowerRuns);
  return static_cast<char32_t>(static_cast<int32_t>(code) + map[code]);
}

uint8_t combining_class(char32_t code) {
  static const CodePointMap<uint8_t> map(kCombiningClassRuns);
  return map[code];
}

std::span<const char32_t> decomposition(char32_t code, std::span<char32_t, 3> buffer) {
  if (code - kHangulBase < kHangulCount) {
    const char32_t syllable = code - kHangulBase;
    const char32_t trail = syllable % kNumTrails;
    buffer[0] = kLeadBase + syllable / (kNumVowels * kNumTrails);
    buffer[1] = kVowelBase + syllable / kNumTrails % kNumVowels;
    buffer[2] = kTrailBase + trail;
    return buffer.first(trail == 0 ? 2 : 3);
  }
  static const std::unordered_map<char32_t, size_t> places = index_decompositions();
  const auto place = places.find(code);
  if (place == places.end()) return {};
  return {kDecompositions + place->second + 1, kDecompositions[place->second]};
}

WordBreakClass word_break_class(char32_t code) {
  static const CodePointMap<uint8_t> map(kWordBreakRuns);
  const uint8_t value = map[code];
  return {static_cast<WordBreak>(value & 0x7F), (value & 0x80) != 0};
}

std::span<const std::string_view> script_names() {
  return kScriptNames;
}

uint8_t script_of(char32_t code) {
  static const CodePointMap<uint8_t> map(kScriptRuns);
  return map[code];
}

}  // namespace ingot::text
