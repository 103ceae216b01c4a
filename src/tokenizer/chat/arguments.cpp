#include "tokenizer/chat/arguments.h"

#include "core/error/error.h"

namespace ingot::chat {

const Value* CallArguments::get(size_t place, std::string_view name) const {
  if (place < positional.size()) return &positional[place];
  for (const auto& [given, value] : named) {
    if (given == name) return &value;
  }
  return nullptr;
}

bool CallArguments::is_true(size_t place, std::string_view name) const {
  const Value* value = get(place, name);
  return value != nullptr && value->is_true();
}

const std::string& text_of(const Value& value, std::string_view who) {
  check(value.as_text() != nullptr, ErrorCode::Data, "{}: expected a string, got {}", who,
        kind_of(value));
  return *value.as_text();
}

int64_t integer_of(const Value& value, std::string_view who) {
  if (const bool* truth = value.as_bool()) return *truth ? 1 : 0;
  check(value.as_integer() != nullptr, ErrorCode::Data, "{}: expected an integer, got {}", who,
        kind_of(value));
  return *value.as_integer();
}

const Value& needed(const CallArguments& arguments, size_t place, std::string_view name,
                    std::string_view who) {
  const Value* value = arguments.get(place, name);
  check(value != nullptr, ErrorCode::Data, "{}: expected an argument «{}»", who, name);
  return *value;
}

void check_size(size_t bytes, size_t most_bytes) {
  check(bytes <= most_bytes, ErrorCode::Data, "the chat template makes texts that are too long");
}

}  // namespace ingot::chat
