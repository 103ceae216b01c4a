#include "tokenizer/hf/regex/hf_regex.h"

#include <time.h>

#include <algorithm>
#include <optional>

#include "core/error/error.h"
#include "core/system/module.h"
#include "core/text/utf8.h"
#include "tokenizer/hf/regex/literal_tree.h"
#include "tokenizer/hf/regex/pattern_guard.h"
#include "tokenizer/unicode/hf_unicode.h"

namespace ingot {
namespace {

// A search begins with little effort. What needs more is tried again with twice as much, and pays
// for that from a budget; so all that costs is either bounded for each byte or paid for.
constexpr uint64_t kLeastEffort = 4096;
constexpr uint64_t kMostPlaces = 1 << 24;  // some 500 MB
constexpr uint64_t kStepsOfAByte = 64;
constexpr uint64_t kStepsOfAByteInShortTexts = 1 << 14;
constexpr uint64_t kStepsOfAText = 1 << 28;  // some three seconds
// Where a pattern hides steps, only the clock sees them. A call then looks at one place, and the
// thread's time is read between calls.
constexpr double kSecondsOfAText = 1, kSecondsOfAByte = 5e-6;
constexpr int kCallsBetweenLooks = 16;

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

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

// What the engine has otherwise, as a set. It takes no more than twenty properties from us.
struct Rewritten {
  std::string_view escape, set;
  bool negated;
};
constexpr std::string_view kDigit = "\\p{Nd}", kWord = "\\p{ingotword}",
                           kLoneWord = "\\p{ingotword}²³¹¼½¾", kPunctuation = "\\p{P}\\p{S}",
                           kHan = "\\p{Han}\\x{2B739}\\x{2EBF0}-\\x{2EE5D}\\x{31350}-\\x{323AF}",
                           kFormat = "\\p{Cf}\\x{13439}-\\x{1343F}";
constexpr Rewritten kRewritten[] = {{"\\d", kDigit, false},
                                    {"\\D", kDigit, true},
                                    {"\\w", kWord, false},
                                    {"\\W", kWord, true},
                                    {"\\p{Han}", kHan, false},
                                    {"\\P{Han}", kHan, true},
                                    {"\\p{^Han}", kHan, true},
                                    {"\\p{Cf}", kFormat, false},
                                    {"\\P{Cf}", kFormat, true},
                                    {"\\p{^Cf}", kFormat, true},
                                    {"[:punct:]", kPunctuation, false},
                                    {"[:^punct:]", kPunctuation, true},
                                    {"[:word:]", kWord, false},
                                    {"[:^word:]", kWord, true},
                                    {"[:digit:]", kDigit, false},
                                    {"[:^digit:]", kDigit, true}};

// \d, \w and others by what they are to Hugging Face's engine. There \w that stands outside of
// brackets also matches the numbers of Latin-1.
std::string with_properties(std::string_view pattern) {
  std::string out;
  int sets = 0;  // [ around here
  for (size_t at = 0; at < pattern.size();) {
    const std::string_view rest = pattern.substr(at);
    const auto known =
        std::find_if(std::begin(kRewritten), std::end(kRewritten), [&](const Rewritten& one) {
          return rest.starts_with(one.escape) && (rest[0] == '\\' || sets > 0);
        });
    if (known != std::end(kRewritten)) {
      const std::string_view set = known->set == kWord && sets == 0 ? kLoneWord : known->set;
      out += sets > 0 && !known->negated ? std::string(set)
                                         : fmt::format("[{}{}]", known->negated ? "^" : "", set);
      at += known->escape.size();
      continue;
    }
    size_t taken = rest[0] == '\\' ? std::min<size_t>(rest.size(), 2) : 1;
    if (sets > 0 && rest.starts_with("[:") && rest.find(":]") != std::string_view::npos) {
      taken = rest.find(":]") + 2;
    } else if (rest[0] == '[') {
      ++sets;
      if (rest.substr(1).starts_with('^')) ++taken;
      if (rest.substr(taken).starts_with(']')) ++taken;  // the first one is a character
    } else if (rest[0] == ']' && sets > 0) {
      --sets;
    }
    out += rest.substr(0, taken);
    at += taken;
  }
  return out;
}

}  // namespace

struct HfRegex::Budget {
  explicit Budget(size_t bytes)
      : left(std::min(kStepsOfAByteInShortTexts * bytes, kStepsOfAText) + kStepsOfAByte * bytes),
        deadline(thread_seconds() + kSecondsOfAText +
                 kSecondsOfAByte * static_cast<double>(bytes)) {}

  bool in_time() { return ++calls % kCallsBetweenLooks != 0 || thread_seconds() < deadline; }

  uint64_t left;
  double deadline;
  int calls = 0;
};

HfRegex::HfRegex(const std::string& pattern, std::string_view origin)
    : pattern_(pattern), origin_(origin) {
  const PatternVerdict verdict = verdict_on_pattern(pattern);
  check(verdict.refusal.empty(), ErrorCode::Data,
        "{}: the pattern \"{}\" is not supported: {} may take more than linear time", origin,
        shortened(pattern), verdict.refusal);
  hides_steps_ = verdict.hides_steps;
  RegexLibrary& engine = library(fmt::format("{}: the pattern \"{}\"", origin, shortened(pattern)));
  const std::string wanted = with_properties(pattern);
  std::string error;
  program_ = engine.compile(with_literals_as_tree(wanted), error);
  if (!program_) program_ = engine.compile(wanted, error);  // a tree may be too deep
  check(program_ != nullptr, ErrorCode::Data, "{}: \"{}\" is not a pattern: {}", origin,
        shortened(pattern), error);
}

template <class Call>
bool HfRegex::run(const Call& call, std::string_view text, size_t from, Budget& budget) const {
  using Outcome = RegexProgram::Outcome;
  for (uint64_t steps = kLeastEffort;; steps *= 2) {
    const Outcome outcome =
        call(RegexProgram::Effort{steps, static_cast<uint32_t>(std::min(steps, kMostPlaces))});
    check(outcome != Outcome::Failed, ErrorCode::Data,
          "{}: the pattern \"{}\" fails at byte {} of a text", origin_, shortened(pattern_), from);
    if (outcome != Outcome::Exhausted) return outcome == Outcome::Found;
    if (steps > budget.left) refuse(text, from);
    budget.left -= steps;
  }
}

void HfRegex::refuse(std::string_view text, size_t at) const {
  throw Error(ErrorCode::Data,
              fmt::format("{}: the pattern \"{}\" takes too many steps in a text of {} bytes, at "
                          "byte {}: expected about as many as there are bytes",
                          origin_, shortened(pattern_), text.size(), at));
}

bool HfRegex::search(std::string_view text, size_t from, Budget& budget, RegexMatch& match) const {
  if (!hides_steps_) {
    return run([&](const auto& effort) { return program_->search(text, from, effort, match); },
               text, from, budget);
  }
  while (true) {
    const auto call = [&](const auto& effort) {
      return program_->match_at(text, from, effort, match);
    };
    if (!budget.in_time()) refuse(text, from);
    if (run(call, text, from, budget)) return true;
    if (from == text.size()) return false;
    from += text::character_bytes(text[from]);
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
