// Escapes text so that a terminal prints it and runs no control sequence.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// Passes text through with control characters and invalid UTF-8 bytes as \xNN; tabs and line ends
// stay. An incomplete character at the end of a piece is held for the next piece.
class PrintableText {
 public:
  std::string add(std::string_view piece);
  std::string finish();  // what is still held

 private:
  std::string waiting_;
};

std::string printable(std::string_view text);

// Columns that valid text takes: its number of characters.
size_t width_of(std::string_view text);
// The longest prefix of valid text that fits into `columns`.
std::string_view cut_to_width(std::string_view text, size_t columns);

}  // namespace ingot
