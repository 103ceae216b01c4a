// The filters, tests and methods that chat templates use.
#pragma once

#include <string_view>

#include "tokenizer/chat/arguments.h"

namespace ingot::chat {

// All throw ErrorCode::Data for arguments that Python or Jinja rejects, and for unknown names.
// `most_bytes` limits the size of a result.
Value apply_filter(std::string_view name, const Value& value, const CallArguments& arguments,
                   size_t most_bytes);
bool apply_test(std::string_view name, const Value& value, const CallArguments& arguments);
// «text.strip()», «dict.items()», …
bool has_method(const Value& object, std::string_view name);
Value call_method(const Value& object, std::string_view name, const CallArguments& arguments,
                  size_t most_bytes);

bool contains(const Value& container, const Value& item);
bool is_less(const Value& a, const Value& b);
// The items that a for loop iterates over. An undefined value has none.
List items_of(const Value& value);

}  // namespace ingot::chat
