// Records without text: which field has it instead?
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace ingot {

// Of one file of JSON records, until the first that has text.
class TextFieldWatch {
 public:
  // A record whose text field is missing or no string. Throws ErrorCode::Data with the fields that
  // hold strings when so many were like it that the file must have its text elsewhere.
  void on_record_without_text(std::string_view record, const std::string& field,
                              const std::string& location);
  void on_text() { is_over_ = true; }
  // Of the records so far; empty where one had text.
  const std::set<std::string>& string_fields() const { return string_fields_; }

 private:
  bool is_over_ = false;
  int64_t records_ = 0;
  std::set<std::string> string_fields_;
};

}  // namespace ingot
