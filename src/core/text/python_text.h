// Python's str methods on valid UTF-8, as in CPython 3.11. Lengths are code points, never bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::text {

// len(text)
size_t length(std::string_view text);

// Views into `text`.
std::string_view lstrip(std::string_view text);
std::string_view rstrip(std::string_view text);
std::string_view strip(std::string_view text);

// One line of str.splitlines: removes it and its line break from the front of `rest`; false if
// nothing is left. CR LF is one break; no line follows a final break.
bool next_line(std::string_view& rest, std::string_view& line);

// One piece of str.split(separator): removes it and the separator from the front of `rest`, which
// is null after the last piece; false if it was null. "" has one piece, "".
bool next_piece(std::string_view& rest, char separator, std::string_view& piece);

// One word of str.split(); false if only whitespace is left.
bool next_word(std::string_view& rest, std::string_view& word);

// str.count: non-overlapping, from the left. The needle is not empty.
size_t count(std::string_view text, std::string_view needle);

// str.lower, appended to `out`: with U+0130 and the final sigma.
void append_lower(std::string& out, std::string_view text);
std::string lower(std::string_view text);

// needle in text
bool contains(std::string_view text, std::string_view needle);

}  // namespace ingot::text
