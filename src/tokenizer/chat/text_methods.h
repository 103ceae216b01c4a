// Methods of strings in chat templates, as Python has them.
#pragma once

#include "tokenizer/chat/arguments.h"

namespace ingot::chat {

bool is_text_method(std::string_view name);
// Throws ErrorCode::Data on arguments that Python would refuse, and on those that are not
// supported.
Value call_text_method(const std::string& text, std::string_view name,
                       const CallArguments& arguments, size_t most_bytes);

// Without their ends, which are Python's: also U+2028 and others. `keep_ends`: with them.
List split_lines(std::string_view text, bool keep_ends);

// Items as text, with `between` between them; with an attribute, that of each.
std::string joined(const List& items, std::string_view between, const Value* attribute,
                   size_t most_bytes);

}  // namespace ingot::chat
