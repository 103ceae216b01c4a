// Is it UTF-8?
#pragma once

#include <cstddef>
#include <string_view>

namespace ingot {

// Offset of the first byte that does not begin a well-formed character (Unicode 15, table 3-7: no
// surrogates, no overlong forms, nothing above U+10FFFF); text.size() when all of it is valid.
size_t valid_utf8_prefix(std::string_view text);

}  // namespace ingot
