// Methods of strings in chat templates, as in Python.
#pragma once

#include "tokenizer/chat/arguments.h"

namespace ingot::chat {

bool is_text_method(std::string_view name);
// Throws ErrorCode::Data for arguments that Python rejects, and for unsupported ones.
// Parts of a text, and texts put together, keep their marks; other results are just made.
Value call_text_method(const MarkedText& object, std::string_view name,
                       const CallArguments& arguments, size_t most_bytes);

// Splits at Python's line ends, which include U+2028 and others. `keep_ends`: lines include them.
List split_lines(std::string_view text, bool keep_ends);

// Joins the items as text with `between`; with an attribute, joins that attribute of each item.
MarkedText joined(const List& items, const MarkedText& between, const Value* attribute,
                  size_t most_bytes);

}  // namespace ingot::chat
