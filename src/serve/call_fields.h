// Reads the fields of a request's JSON object by name, and refuses those that nobody reads.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "serve/api_error.h"

namespace ingot::serve {

using Json = nlohmann::ordered_json;

inline constexpr int kMostJsonDepth = 32;

// Throws ApiError if `body` is no JSON object or is nested too deeply. Bytes that are not UTF-8
// become U+FFFD.
Json parse_body(std::string_view body);

class CallFields {
 public:
  explicit CallFields(const Json& object) : object_(object) {}

  // Null, or nothing, if the field is missing or null. The functions throw ApiError, naming the
  // field, for a wrong type or value.
  const Json* find(const std::string& name);
  std::optional<std::string> text(const std::string& name);
  std::optional<bool> flag(const std::string& name);
  std::optional<int64_t> integer(const std::string& name, int64_t least, int64_t most);
  std::optional<double> number(const std::string& name);
  // Accepts an unsupported field if `is_harmless` says that its value asks for nothing.
  void harmless(const std::string& name, bool (*is_harmless)(const Json&));
  // Throws ApiError for the first field that no call above named.
  void refuse_others() const;

 private:
  const Json& object_;
  std::set<std::string> known_;
};

}  // namespace ingot::serve
