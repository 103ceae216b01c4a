// Web pages' character sets.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// What `bytes` are written in, as browsers decide: a byte order mark, then what the server declared
// (may be empty), then, in HTML, a <meta> among the first kilobytes; else UTF-8 where they are
// that, and windows-1252, the Latin-1 of the web, where they are not.
std::string find_charset(std::string_view declared, std::string_view bytes, bool is_html);

// Sets `out` to `bytes` in UTF-8, without a byte order mark; what is malformed becomes U+FFFD.
// False where the character set is not known.
bool decode_charset(const std::string& charset, std::string_view bytes, std::string& out);

}  // namespace ingot
