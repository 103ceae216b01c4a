// Detects a wrong text field: finds which fields hold text.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace ingot {

// For one file of JSON records, until the first record with text.
class TextFieldWatch {
 public:
  // Reports a record whose text field is missing or not a string. After many such records throws
  // ErrorCode::Data with the fields that hold strings: the file must have its text elsewhere.
  void on_record_without_text(std::string_view record, const std::string& field,
                              const std::string& location);
  void on_text() { is_over_ = true; }
  // Over the records so far; empty if one had text.
  const std::set<std::string>& string_fields() const { return string_fields_; }

 private:
  bool is_over_ = false;
  int64_t records_ = 0;
  std::set<std::string> string_fields_;
};

}  // namespace ingot
