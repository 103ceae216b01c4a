// Python's «format % values», in chat templates also «format|format(values)».
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/chat/value.h"

namespace ingot::chat {

struct PercentValues {
  List by_place;
  const Value* by_name = nullptr;  // a dict, or a list where Python looks no value up in it
};

// Flags, width, precision, * and %(name), and the kinds d i u o x X e E f F g G c r s a and %.
// Throws ErrorCode::Data on what Python refuses, and where %d of a float is beyond 64 bits.
std::string formatted_by_percent(std::string_view format, const PercentValues& values,
                                 size_t most_bytes);

}  // namespace ingot::chat
