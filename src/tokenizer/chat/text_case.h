// Upper and lower case as in Python's strings.
#pragma once

#include <string>
#include <string_view>

namespace ingot::chat {

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string swapped_case(std::string_view text);
std::string capitalized(std::string_view text);
std::string title(std::string_view text);        // str.title()
std::string jinja_title(std::string_view text);  // words start after spaces, - and brackets

// str.isdigit() and similar methods, by name; false for an empty text.
bool has_only(std::string_view text, std::string_view method);

}  // namespace ingot::chat
