#include "core/text/printable.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(PrintableText, LeavesTextTabsAndLineEndsAlone) {
  const std::string text = "plain, größer, 漢字 \t🙂\r\nnext\n";
  EXPECT_EQ(printable(text), text);
}

TEST(PrintableText, EscapesControlCharactersAndBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\033[31m"), "\\x1b[31m");
  EXPECT_EQ(printable("a\rb\b\x7f"), "a\\x0db\\x08\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // CSI of C1
  EXPECT_EQ(printable("\xff\xc3(\xe6\xbc"), "\\xff\\xc3(\\xe6\\xbc");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

TEST(PrintableText, DoesNotDependOnHowTextIsCutIntoPieces) {
  const std::string text = "ä漢🙂\r\n\033\xf0\x9f!\xed\xa0\x80\xe0\x80\r";
  const std::string whole = printable(text);
  PrintableText by_bytes;
  std::string pieces;
  for (const char byte : text) pieces += by_bytes.add({&byte, 1});
  EXPECT_EQ(pieces + by_bytes.finish(), whole);
}

TEST(Width, CountsCharactersAndCutsBetweenThem) {
  EXPECT_EQ(width_of("größer"), 6u);
  EXPECT_EQ(cut_to_width("größer", 3), "grö");
  EXPECT_EQ(cut_to_width("größer", 10), "größer");
  EXPECT_EQ(cut_to_width("größer", 0), "");
}

}  // namespace
}  // namespace ingot
