// Decides which regular expressions are accepted: those whose cost can be bounded.
#pragma once

#include <string_view>

namespace ingot {

inline constexpr size_t kLongestPattern = size_t{1} << 16;  // bytes

struct PatternVerdict {
  std::string_view refusal;  // why the pattern is rejected; empty: it is accepted
  // The engine counts backtracking steps (hf_regex.h). An unbounded repetition that cannot
  // backtrack (in a look-around, an atomic group, or possessive) may do much work between two of
  // them.
  bool hides_steps = false;
};

// Rejects unbounded repetitions of what hides steps, and patterns that call groups, run callouts or
// depend on where a search began. Whether it is a valid pattern at all is for the engine to decide.
PatternVerdict verdict_on_pattern(std::string_view pattern);

// The end of the class [ … ] that starts at `begin`, including nested classes; may be beyond the
// pattern if it is not closed.
size_t class_end(std::string_view pattern, size_t begin);

}  // namespace ingot
