// Regular expressions of Replace that need no regex engine.
#pragma once

#include <string_view>

namespace ingot {

inline constexpr std::string_view kRunsOfSpaces = " {2,}";
// What SentencePiece's remove_extra_whitespaces removes around a text, in this program's spelling.
// It treats U+2581 marks in the text as spaces at the end, but not at the beginning.
inline constexpr std::string_view kSpacesAround = "\\A +|[ \xE2\x96\x81]+\\z";

}  // namespace ingot
