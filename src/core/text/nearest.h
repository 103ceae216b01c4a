// Suggestions for mistyped names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// The nearest of `names` by edit distance (insert, delete, replace, swap), or empty if none is
// near. A name with a section, «optim.lr», is also near if only the section is wrong.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names);

}  // namespace ingot
