// Text that a terminal shows and does not obey.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// Passes text on with control characters and bytes that are no UTF-8 as \xNN; tabs and line ends
// stay. What a piece of text ends in the middle of waits for the next one.
class PrintableText {
 public:
  std::string add(std::string_view piece);
  std::string finish();  // what still waits

 private:
  std::string waiting_;
};

std::string printable(std::string_view text);

// Columns that valid text takes: its characters.
size_t width_of(std::string_view text);
// The beginning of valid text that takes at most so many.
std::string_view cut_to_width(std::string_view text, size_t columns);

}  // namespace ingot
