// Arguments of the filters, tests and methods of chat templates.
#pragma once

#include <string_view>

#include "tokenizer/chat/value.h"

namespace ingot::chat {

struct CallArguments {
  List positional;
  Dict named;

  // By position or by name; null: not given.
  const Value* get(size_t place, std::string_view name) const;
  bool is_true(size_t place, std::string_view name) const;  // also false if not given
};

// These throw ErrorCode::Data, naming `who`, if the value is missing or of another type.
const std::string& text_of(const Value& value, std::string_view who);
int64_t integer_of(const Value& value, std::string_view who);
const Value& needed(const CallArguments& arguments, size_t place, std::string_view name,
                    std::string_view who);

// Throws ErrorCode::Data if a text exceeds the size limit of templates.
void check_size(size_t bytes, size_t most_bytes);

}  // namespace ingot::chat
