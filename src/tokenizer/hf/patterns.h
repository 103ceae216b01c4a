// The regular expressions of Replace that are carried out without an engine.
#pragma once

#include <string_view>

namespace ingot {

inline constexpr std::string_view kRunsOfSpaces = " {2,}";
// What SentencePiece's remove_extra_whitespaces drops around a text, as this program writes it.
// Marks that stand in the text are spaces to it at the end, but not at the beginning.
inline constexpr std::string_view kSpacesAround = "\\A +|[ \xE2\x96\x81]+\\z";

}  // namespace ingot
