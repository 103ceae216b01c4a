// The text of a web page.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// Sets `text` to what `html` (UTF-8) shows, as innerText in the HTML standard has it: head, script,
// style and their like left out; a line for each block, an empty line around paragraphs, a tab
// between a table's cells; runs of white space one space, except in <pre>; character references
// decoded. It reads tags, builds no tree and judges nothing: menus and footers stay.
void html_to_text(std::string_view html, std::string& text);

// Appends what the character reference at `at` (its '&') stands for and returns the offset after
// it; where there is none, the '&' itself.
size_t append_character_reference(std::string_view html, size_t at, std::string& out);

}  // namespace ingot
