// A TOML file as a tree of plain values.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ingot {

// Tables become objects, lists arrays; dates are refused. Throws ErrorCode::Config with `origin`
// and the line where the text is not TOML, and where it is larger than a file that people write.
nlohmann::json parse_toml_tree(std::string_view text, std::string_view origin);

// What `path`, written in the file `origin`, stands for: relative ones begin in that file's folder.
std::string path_in_file(std::string_view origin, std::string_view path);

}  // namespace ingot
