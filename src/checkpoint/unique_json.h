// JSON from outside, of which nothing may be said twice.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ingot {

// The parsed text. Throws MemberError where an object has a key twice, of which the library would
// keep the last and say nothing, and nlohmann's exceptions for what is no JSON.
nlohmann::json parse_unique_json(std::string_view text);

// A value for messages; of one that may be nested without end its type.
std::string shown(const nlohmann::json& value);

}  // namespace ingot
