// One JSON object, checked whole and read for a few of its members.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ingot {

// A member that is asked for. Where an object has it twice, the last one counts, as in Python.
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
  InvalidUtf8,  // malformed bytes, or half of a surrogate pair in a field that is asked for
};

// Sets `fields` where the outcome is Record; reuses their strings. Accepts exactly RFC 8259, nested
// to 500 levels at most; members that are not asked for are checked, not decoded.
JsonOutcome parse_json_record(std::string_view text, std::span<JsonField> fields);

}  // namespace ingot
