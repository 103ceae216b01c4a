#include "serve/call_fields.h"

#include <fmt/format.h>

#include "core/text/utf8.h"

namespace ingot::serve {
namespace {

[[noreturn]] void refuse(const std::string& name, std::string_view expected, const Json& got) {
  std::string shown = got.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (shown.size() > 60) shown = shown.substr(0, valid_utf8_prefix(shown.substr(0, 57))) + "…";
  throw ApiError(400, fmt::format("{}: expected {}, got {}", name, expected, shown), name,
                 "invalid_value");
}

}  // namespace

Json parse_body(std::string_view body) {
  // Before parsing, which would build what is nested.
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_text) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMostJsonDepth)
        throw ApiError(400,
                       fmt::format("the body: JSON is nested more than {} deep", kMostJsonDepth));
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  Json json = Json::parse(valid_utf8(body), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    throw ApiError(400, "the body: expected a JSON object, such as {\"prompt\": \"…\"}");
  return json;
}

const Json* CallFields::find(const std::string& name) {
  known_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> CallFields::text(const std::string& name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(name, "a string", *value);
  return value->get<std::string>();
}

std::optional<bool> CallFields::flag(const std::string& name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(name, "true or false", *value);
  return value->get<bool>();
}

std::optional<int64_t> CallFields::integer(const std::string& name, int64_t least, int64_t most) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const bool fits = value->is_number_integer() &&
                    !(value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX);
  if (!fits || value->get<int64_t>() < least || value->get<int64_t>() > most)
    refuse(name, fmt::format("an integer from {} to {}", least, most), *value);
  return value->get<int64_t>();
}

std::optional<double> CallFields::number(const std::string& name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) refuse(name, "a number", *value);
  return value->get<double>();
}

void CallFields::harmless(const std::string& name, bool (*is_harmless)(const Json&)) {
  const Json* value = find(name);
  if (value != nullptr && !is_harmless(*value))
    throw ApiError(400, fmt::format("{}: this server does not support it: leave it out", name),
                   name, "unsupported_parameter");
}

void CallFields::refuse_others() const {
  for (const auto& [name, value] : object_.items())
    if (!value.is_null() && !known_.contains(name))
      throw ApiError(400, fmt::format("{}: this server does not know it: leave it out", name), name,
                     "unknown_parameter");
}

}  // namespace ingot::serve
