// Character sets of web pages.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// The encoding of `bytes`, decided as browsers do: a byte order mark; then the server's declaration
// (may be empty); then, in HTML, a <meta> in the first kilobytes; else UTF-8 if the bytes are valid
// UTF-8, and windows-1252, the web's Latin-1, if not.
std::string find_charset(std::string_view declared, std::string_view bytes, bool is_html);

// Sets `out` to `bytes` in UTF-8 without a byte order mark; malformed bytes become U+FFFD. False if
// the character set is unknown.
bool decode_charset(const std::string& charset, std::string_view bytes, std::string& out);

}  // namespace ingot
