// GPT-2's spelling of bytes as printable characters, in which vocabularies are written: a space is
// Ġ, a line feed Ċ, and most of the rest themselves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ingot {

std::string spell_bytes(std::string_view bytes);  // UTF-8
void append_spelling(std::string_view bytes, std::string& out);
// Empty where `spelling` holds a character that spells no byte.
std::optional<std::string> spelt_bytes(std::string_view spelling);

}  // namespace ingot
