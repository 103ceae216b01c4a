// Text inside HTML.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// The five characters that HTML gives a meaning, as references: for text and quoted attributes.
// Spelt as Python's markupsafe does ("&#34;", "&#39;"), since chat templates are written against
// it.
std::string escape_html(std::string_view text);

}  // namespace ingot
