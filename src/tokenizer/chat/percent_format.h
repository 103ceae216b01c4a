// Python's «format % values», in chat templates also «format|format(values)».
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/chat/value.h"

namespace ingot::chat {

struct PercentValues {
  List by_place;
  const Value* by_name = nullptr;  // a dict; or a list, in which Python looks up nothing
};

// Supports flags, width, precision, * and %(name), and the conversions d i u o x X e E f F g G c r
// s a and %. Throws ErrorCode::Data for what Python rejects, and for %d of a float beyond 64 bits.
std::string formatted_by_percent(std::string_view format, const PercentValues& values,
                                 size_t most_bytes);

}  // namespace ingot::chat
