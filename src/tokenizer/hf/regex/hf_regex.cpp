#include "tokenizer/hf/regex/hf_regex.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/module.h"
#include "core/text/utf8.h"
#include "tokenizer/hf/regex/pattern_guard.h"
#include "tokenizer/unicode/hf_unicode.h"

namespace ingot {
namespace {

// A search begins with little effort and few places to begin a match at. What needs more is tried
// again with twice as much, and pays for that from a budget; so all that costs is either bounded
// for each byte or paid for.
constexpr uint32_t kLeastEffort = 4096;
constexpr uint32_t kMostEffort = 1u << 24;  // some 500 MB of places to step back to
constexpr size_t kStarts = 64;
constexpr uint64_t kStepsOfAByte = 64;
constexpr uint64_t kStepsOfAByteInShortTexts = 1 << 16;
constexpr uint64_t kStepsOfAText = 1 << 30;  // some ten seconds

RegexLibrary& library(const std::string& why) {
  static RegexLibrary* const loaded = [&] {
    auto* const make = reinterpret_cast<RegexFunction*>(
        load_module_function(kRegexModule, kRegexFunction,
                             why + " needs Oniguruma (Debian package libonig5) and our module for "
                                   "it"));
    RegexLibrary* const made = make();
    check(made != nullptr, ErrorCode::Missing, "{}: Oniguruma cannot be set up", why);
    for (const HfProperty& property : hf_properties()) {
      check(made->define_property(property.name, property.ranges), ErrorCode::Internal,
            "Oniguruma does not take the property {}", property.name);
    }
    return made;
  }();
  return *loaded;
}

std::string shortened(const std::string& pattern) {
  constexpr size_t kShown = 100;
  return pattern.size() <= kShown ? pattern : valid_utf8(pattern.substr(0, kShown)) + "…";
}

}  // namespace

struct HfRegex::Budget {
  explicit Budget(size_t bytes)
      : left(std::min(kStepsOfAByteInShortTexts * bytes, kStepsOfAText) + kStepsOfAByte * bytes) {}
  uint64_t left;
};

HfRegex::HfRegex(const std::string& pattern, std::string_view origin)
    : pattern_(pattern), origin_(origin) {
  const std::string_view refusal = refusal_of_pattern(pattern);
  check(refusal.empty(), ErrorCode::Data,
        "{}: the pattern \"{}\" is not supported: {} may take more than linear time", origin,
        shortened(pattern), refusal);
  std::string error;
  program_ = library(fmt::format("{}: the pattern \"{}\"", origin, shortened(pattern)))
                 .compile(pattern, error);
  check(program_ != nullptr, ErrorCode::Data, "{}: \"{}\" is not a pattern: {}", origin,
        shortened(pattern), error);
}

bool HfRegex::search(std::string_view text, size_t from, Budget& budget, RegexMatch& match) const {
  while (true) {
    size_t last = std::min(from + kStarts, text.size());
    while (last < text.size() && text::is_continuation(text[last])) ++last;
    auto outcome = RegexProgram::Outcome::Exhausted;
    for (uint32_t effort = kLeastEffort; outcome == RegexProgram::Outcome::Exhausted; effort *= 2) {
      outcome = program_->search(text, from, last, effort, match);
      if (outcome != RegexProgram::Outcome::Exhausted) break;
      check(effort < kMostEffort && effort <= budget.left, ErrorCode::Data,
            "{}: the pattern \"{}\" takes too many steps in a text of {} bytes, at byte {}: "
            "expected about as many as there are bytes",
            origin_, shortened(pattern_), text.size(), from);
      budget.left -= effort;
    }
    check(outcome != RegexProgram::Outcome::Failed, ErrorCode::Data,
          "{}: the pattern \"{}\" fails at byte {} of a text", origin_, shortened(pattern_), from);
    if (outcome == RegexProgram::Outcome::Found) return true;
    if (last == text.size()) return false;
    from = last;
  }
}

void HfRegex::for_each_match(std::string_view text, const Visit& visit) const {
  Budget budget(text.size());
  std::optional<size_t> last_end;
  RegexMatch match{};
  for (size_t from = 0; from <= text.size() && search(text, from, budget, match);) {
    if (match.begin == match.end && last_end == match.end) {
      from += from < text.size() ? text::character_bytes(text[from]) : 1;
      continue;
    }
    from = match.end;
    last_end = match.end;
    visit(match);
  }
}

}  // namespace ingot
