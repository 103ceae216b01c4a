// Parses a TOML file into a tree of plain values.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ingot {

// Tables become objects and lists become arrays; dates are rejected. Throws ErrorCode::Config with
// `origin` and the line if the text is not TOML or exceeds the size limit.
nlohmann::json parse_toml_tree(std::string_view text, std::string_view origin);

// Resolves `path` as written in the file `origin`: relative paths start in that file's folder.
std::string path_in_file(std::string_view origin, std::string_view path);

}  // namespace ingot
