// Arithmetic of chat templates with Python's rules; integers have 64 bits.
#pragma once

#include <string_view>

#include "tokenizer/chat/value.h"

namespace ingot::chat {

// + - * / // % **, of two numbers. Throws ErrorCode::Data for division by zero and integer
// overflow.
Value calculate(std::string_view op, const Value& a, const Value& b);

}  // namespace ingot::chat
