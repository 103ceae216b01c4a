// Bytes as text of 64 letters.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

std::string to_base64(std::string_view bytes);
std::string from_base64(std::string_view text);  // empty: it is not base64, or spells nothing

}  // namespace ingot
