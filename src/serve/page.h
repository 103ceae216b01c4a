// The page for people, page.html.
#pragma once

#include <string_view>

namespace ingot::serve {

std::string_view page();

}  // namespace ingot::serve
