// Integers from parsed JSON, any nlohmann::basic_json. Its own get<int64_t>() casts every number:
// 1e300 is undefined behaviour and 1.5 becomes 1.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ingot {

// Throws nlohmann's type_error for anything but an integer. Values above INT64_MAX come out
// negative.
template <class Json>
int64_t integer_of(const Json& value) {
  return value.template get_ref<const typename Json::number_integer_t&>();
}

// {"name": number, …}
template <class Json>
std::map<std::string, int64_t> integers_of(const Json& object) {
  std::map<std::string, int64_t> integers;
  for (const auto& [name, value] : object.items()) integers[name] = integer_of(value);
  return integers;
}

}  // namespace ingot
