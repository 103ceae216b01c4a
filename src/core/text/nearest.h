// Names that were mistyped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// The nearest of `names` by edits (a letter more, less, other, or two exchanged), or empty when
// nothing is near. Of names in sections, «optim.lr», one that is right but for its section is near.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names);

}  // namespace ingot
