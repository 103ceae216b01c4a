// A pattern that finds the same in fewer steps.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// The engine tries alternatives one after the other. Those of the whole pattern that are plain
// characters are written as a tree, «there|them|that» as «t(?:he(?:re|m)|hat)»: what begins
// otherwise is left at once. The first that matches is the same, since of two alternatives that
// begin differently at most one can. Other patterns come back as they are.
std::string with_literals_as_tree(std::string_view pattern);

}  // namespace ingot
