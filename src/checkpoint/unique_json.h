// Parses JSON files of other programs and refuses repeated keys.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ingot {

// Throws MemberError if an object has a key twice (the library alone would silently keep the last),
// and nlohmann's exceptions for invalid JSON.
nlohmann::json parse_unique_json(std::string_view text);

// A value for messages; for an object or a list only its type, since it may be large.
std::string shown(const nlohmann::json& value);

}  // namespace ingot
