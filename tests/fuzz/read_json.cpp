// JSON lines and arrays on arbitrary bytes; a single line must be judged as nlohmann-json judges
// it. Input: one byte that chooses the kind and the longest document, then the file.
#include <nlohmann/json.hpp>
#include <string_view>

#include "documents_of_bytes.h"
#include "ingest/read/formats/json_record.h"

namespace {

using Json = nlohmann::json;

// Half a surrogate pair in a member that nobody asked for is let pass, and so is a number too large
// for a double; nesting has a limit; and nlohmann-json takes a NUL for the end.
bool may_differ(std::string_view line) {
  bool has_exponent = false;
  for (size_t i = 1; i < line.size(); ++i) {
    const bool after_digit = line[i - 1] >= '0' && line[i - 1] <= '9';
    has_exponent |= after_digit && (line[i] == 'e' || line[i] == 'E');
  }
  return has_exponent || line.find("\\u") != std::string_view::npos ||
         line.find('\0') != std::string_view::npos || line.size() > 300;
}

void compare(std::string_view line) {
  if (line.starts_with("\xEF\xBB\xBF")) return;  // a file's, not a record's
  ingot::JsonField fields[] = {{.name = "text", .value = {}}, {.name = "id", .value = {}}};
  const auto outcome = ingot::parse_json_record(line, fields);
  const Json expected = Json::parse(line, nullptr, false);
  using Outcome = ingot::JsonOutcome;
  if (outcome == Outcome::InvalidUtf8 || outcome == Outcome::RepeatedMember) return;
  const bool accepted = outcome == Outcome::Record || outcome == Outcome::NotAnObject;
  if (accepted != !expected.is_discarded()) {
    if (!may_differ(line)) abort();
    return;
  }
  if (!accepted) return;
  if (expected.is_object() != (outcome == Outcome::Record)) abort();
  if (outcome != Outcome::Record) return;
  for (const auto& field : fields) {
    using Kind = ingot::JsonField::Kind;
    const auto member = expected.find(std::string(field.name));
    if ((member == expected.end()) != (field.kind == Kind::Absent)) abort();
    if (member == expected.end()) continue;
    if (member->is_string() != (field.kind == Kind::String)) abort();
    if (member->is_null() != (field.kind == Kind::Null)) abort();
    if (member->is_number() != (field.kind == Kind::Number)) abort();
    if (member->is_string() && member->get_ref<const std::string&>() != field.value) abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const int64_t max_document_bytes = data[0] & 2 ? 8 : 1 << 20;
  documents_of_bytes(data[0] & 1 ? "a.json" : "a.jsonl", data + 1, size - 1, max_document_bytes);
  compare({reinterpret_cast<const char*>(data + 1), size - 1});
  return 0;
}
