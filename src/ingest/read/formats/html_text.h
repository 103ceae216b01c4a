// Extracts the text of a web page.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// Sets `text` to the visible text of `html` (UTF-8), like innerText in the HTML standard: without
// head, script, style and similar elements; one line per block, an empty line around paragraphs, a
// tab between table cells; runs of white space become one space, except in <pre>; character
// references are decoded. It reads tags without building a tree and removes no boilerplate: menus
// and footers stay.
void html_to_text(std::string_view html, std::string& text);

// Decodes the character reference at `at` (its '&'), appends it and returns the offset after it; if
// it is not a reference, appends the '&'.
size_t append_character_reference(std::string_view html, size_t at, std::string& out);

}  // namespace ingot
