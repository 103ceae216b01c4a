// Validates one JSON object and reads a few of its members.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ingot {

// A requested member.
struct JsonField {
  enum class Kind { Absent, Null, String, Number, Other };
  std::string_view name;
  Kind kind = Kind::Absent;
  std::string value;  // String: decoded; Number: as written
};

enum class JsonOutcome {
  Record,
  NotAnObject,
  InvalidJson,
  InvalidUtf8,     // malformed bytes, or half of a surrogate pair in a requested field
  RepeatedMember,  // a requested field is there more than once
};

// Sets `fields` if the outcome is Record; reuses their strings. Accepts exactly RFC 8259, nested to
// at most 500 levels. Other members are validated, not decoded.
JsonOutcome parse_json_record(std::string_view text, std::span<JsonField> fields);

}  // namespace ingot
