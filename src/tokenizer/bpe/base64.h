// Decodes base64.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

std::string to_base64(std::string_view bytes);
std::string from_base64(std::string_view text);  // empty: not valid base64, or no bytes

}  // namespace ingot
