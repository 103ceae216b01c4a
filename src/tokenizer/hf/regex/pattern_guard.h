// Which regular expressions are let in: those whose cost can be bounded.
#pragma once

#include <string_view>

namespace ingot {

inline constexpr size_t kLongestPattern = size_t{1} << 16;  // bytes

struct PatternVerdict {
  std::string_view refusal;  // why the pattern is not carried out; empty: it may be
  // The engine counts steps back (hf_regex.h). In a repetition without end that gives nothing back
  // (in a look-around, an atomic group, or possessive) it may do much between two of them.
  bool hides_steps = false;
};

// Refused are repetitions without end of what hides steps, and what calls groups, runs callouts or
// depends on where a search began. Whether it is a pattern at all is for the engine to say.
PatternVerdict verdict_on_pattern(std::string_view pattern);

// Where the class [ … ] that begins at `begin` ends, with the classes in it; beyond the pattern,
// perhaps, where it does not end.
size_t class_end(std::string_view pattern, size_t begin);

}  // namespace ingot
