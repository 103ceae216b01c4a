// Rewrites a pattern to an equivalent one that takes fewer steps.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// The engine tries alternatives one after the other. Top-level alternatives that are plain
// characters are rewritten as a tree, «there|them|that» as «t(?:he(?:re|m)|hat)»: texts that begin
// otherwise are left at once. The first matching alternative is the same, since of two alternatives
// that begin differently at most one can match. Other patterns are returned unchanged.
std::string with_literals_as_tree(std::string_view pattern);

}  // namespace ingot
