// GPT-2's mapping of bytes to printable characters, used in vocabulary files: a space is Ġ, a line
// feed Ċ, most other ASCII characters are unchanged.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ingot {

std::string spell_bytes(std::string_view bytes);  // UTF-8
void append_spelling(std::string_view bytes, std::string& out);
// Nothing if `spelling` contains a character outside this mapping.
std::optional<std::string> spelt_bytes(std::string_view spelling);

}  // namespace ingot
