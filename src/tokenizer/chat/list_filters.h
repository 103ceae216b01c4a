// Filters of chat templates that take a list: select, map, sort and the like.
#pragma once

#include <optional>

#include "tokenizer/chat/arguments.h"

namespace ingot::chat {

// Nothing: `name` is no such filter. Throws ErrorCode::Data where Jinja would refuse.
std::optional<Value> apply_list_filter(std::string_view name, const Value& value,
                                       const CallArguments& arguments, size_t most_bytes);
// d|dictsort(case_sensitive, by, reverse): pairs in order of their keys, or values.
Value dict_sorted(const Value& dict, const CallArguments& arguments);

}  // namespace ingot::chat
