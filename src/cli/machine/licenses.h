// The files LICENSE and NOTICE of the source tree, from when the program was built.
#pragma once

#include <string_view>

namespace ingot::cli {

std::string_view license_text();  // of Ingot itself
std::string_view notice_text();   // of all that it is built from

}  // namespace ingot::cli
