// Parses Slurm's short forms of host lists and counts.
#pragma once

#include <string>
#include <string_view>

namespace ingot::cli {

// The first host of "node[3-5,9],gpu1": "node3". Throws ErrorCode::Config if it is no such list.
std::string first_host(std::string_view nodelist);

// Element `node` of "4(x2),3", which means 4, 4, 3. Throws ErrorCode::Config if it is no such list
// or is too short.
int count_on_node(std::string_view counts, int node);

}  // namespace ingot::cli
