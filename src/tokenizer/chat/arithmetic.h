// Numbers of chat templates, as Python has them; integers of 64 bits.
#pragma once

#include <string_view>

#include "tokenizer/chat/value.h"

namespace ingot::chat {

// + - * / // % **, of two numbers. Throws ErrorCode::Data on division by zero and on integers that
// are too large.
Value calculate(std::string_view op, const Value& a, const Value& b);

}  // namespace ingot::chat
