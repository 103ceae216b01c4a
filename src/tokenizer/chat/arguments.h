// What filters, tests and methods of chat templates are called with.
#pragma once

#include <string_view>

#include "tokenizer/chat/value.h"

namespace ingot::chat {

struct CallArguments {
  List positional;
  Dict named;

  // By place or by name; null: not given.
  const Value* get(size_t place, std::string_view name) const;
  bool is_true(size_t place, std::string_view name) const;  // false: not given, too
};

// These throw ErrorCode::Data, naming `who`, where the value is something else or is not there.
const std::string& text_of(const Value& value, std::string_view who);
int64_t integer_of(const Value& value, std::string_view who);
const Value& needed(const CallArguments& arguments, size_t place, std::string_view name,
                    std::string_view who);

// Throws ErrorCode::Data on texts that are longer than a template may make them.
void check_size(size_t bytes, size_t most_bytes);

}  // namespace ingot::chat
