// Filters of chat templates that take a list: select, map, sort and the like.
#pragma once

#include <optional>

#include "tokenizer/chat/arguments.h"

namespace ingot::chat {

// Nothing: no such filter. Throws ErrorCode::Data if Jinja would reject the arguments.
std::optional<Value> apply_list_filter(std::string_view name, const Value& value,
                                       const CallArguments& arguments, size_t most_bytes);
// d|dictsort(case_sensitive, by, reverse): the pairs sorted by key, or by value.
Value dict_sorted(const Value& dict, const CallArguments& arguments);

}  // namespace ingot::chat
