// A TOML file as a tree of plain values.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace ingot {

// Tables become objects, lists arrays; dates are refused. Throws ErrorCode::Config with `origin`
// and the line where the text is not TOML, and where it is larger than a file that people write.
nlohmann::json parse_toml_tree(std::string_view text, std::string_view origin);

}  // namespace ingot
