// What is wrong with parsed JSON, for users: nlohmann's messages are for programmers.
#pragma once

#include <string>

namespace ingot {

// `Exception` is nlohmann::json::exception or a similar type.
template <class Exception>
std::string json_problem(const Exception& error) {
  constexpr int kParse = 101, kLastParse = 115, kIndex = 401, kKey = 403;
  if (error.id >= kParse && error.id <= kLastParse) return "it is not JSON";
  if (error.id == kIndex) return "a list is too short";
  if (error.id != kKey) return "a value has another type than expected";
  const std::string text = error.what();  // … key 'NAME' not found
  const size_t first = text.find('\''), last = text.rfind('\'');
  return first == last ? "a key is missing"
                       : '"' + text.substr(first + 1, last - first - 1) + "\" is missing";
}

}  // namespace ingot
