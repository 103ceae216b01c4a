// Which regular expressions are let in: those whose cost can be bounded.
#pragma once

#include <string_view>

namespace ingot {

inline constexpr size_t kLongestPattern = size_t{1} << 16;  // bytes

// Why the pattern is not carried out; empty: it may be. Whether it is a pattern at all is for the
// engine to say. The engine counts steps back (hf_regex.h): what it does between two of them must
// be bounded, too. So no repetition without end may hold another one that gives nothing back (in a
// look-around, an atomic group, or possessive); and nothing may call groups, run callouts or
// depend on where a search began.
std::string_view refusal_of_pattern(std::string_view pattern);

}  // namespace ingot
