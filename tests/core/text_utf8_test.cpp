#include "core/text/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace ingot {
namespace {

std::string encode_utf8(uint32_t code) {
  std::string out;
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)),
        put(0x80 | (code & 0x3F));
  }
  return out;
}

TEST(Utf8, EveryCodePointIsValidAndEverySurrogateIsNot) {
  for (uint32_t code = 0; code < 0x110000; ++code) {
    const std::string text = encode_utf8(code);
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    ASSERT_EQ(valid_utf8_prefix(text), surrogate ? 0 : text.size()) << code;
    const text::Decoded first = text::decode_first(text + "x"),
                        last = text::decode_last("x" + text);
    ASSERT_EQ(text::is_invalid(first), surrogate) << code;
    ASSERT_EQ(text::is_invalid(last), surrogate) << code;
    if (surrogate) continue;
    ASSERT_EQ(first.code_point, code);
    ASSERT_EQ(last.code_point, code);
    ASSERT_EQ(text::decode(text.data()), code);
    std::string appended;
    text::append_character(appended, code);
    ASSERT_EQ(appended, text);
  }
  EXPECT_EQ(valid_utf8_prefix(encode_utf8(0x110000)), 0u);
}

// Of all 2^24 sequences of three bytes those accepted whole are the concatenations of characters,
// of which there are, by length, 128, 1920 and 61440 (Unicode 15, table 3-7).
TEST(Utf8, AcceptsExactlyTheWellFormedThreeByteStrings) {
  int64_t accepted = 0;
  for (uint32_t bits = 0; bits < 1u << 24; ++bits) {
    const char text[3] = {static_cast<char>(bits >> 16), static_cast<char>(bits >> 8),
                          static_cast<char>(bits)};
    accepted += valid_utf8_prefix({text, 3}) == 3;
  }
  EXPECT_EQ(accepted, 128 * 128 * 128 + 2 * 128 * 1920 + 61440);
}

TEST(Utf8, NamesTheFirstBadByteWhereverBlocksFall) {
  for (const std::string bad : {"\x80", "\xC0\x80", "\xE2\x82", "\xED\xA0\x80", "\xF5\x80\x80\x80",
                                "\xFF", "\xF0\x80\x80\x80"}) {
    for (size_t before = 0; before < 200; ++before) {
      const std::string lead =
          before % 3 == 0 ? "é" + std::string(before, 'x') : std::string(before, 'x');
      for (const std::string& after : {std::string(), std::string("x"), std::string(150, 'y')}) {
        ASSERT_EQ(valid_utf8_prefix(lead + bad + after), lead.size()) << before;
      }
    }
  }
}

TEST(Utf8, CharactersMayStraddleBlocks) {
  for (size_t before = 0; before < 140; ++before) {
    const std::string text = std::string(before, 'x') + "é€😀" + std::string(140 - before, 'y');
    EXPECT_EQ(valid_utf8_prefix(text), text.size());
    EXPECT_EQ(valid_utf8_prefix(std::string(before, 'x') + "\xF0\x9F\x98"), before);
  }
}

// Of a character cut short the bytes are replaced one by one; U+FFFD itself is a character.
TEST(Utf8, ReplacesEachByteThatIsNoPartOfACharacter) {
  EXPECT_EQ(valid_utf8("a\xE2\x82z"), "a\uFFFD\uFFFDz");
  EXPECT_EQ(valid_utf8("\x80é\xFF"), "\uFFFDé\uFFFD");
  EXPECT_EQ(valid_utf8("\uFFFD"), "\uFFFD");
  EXPECT_FALSE(text::is_invalid(text::decode_first("\uFFFD")));
  EXPECT_TRUE(text::is_invalid(text::decode_last("x\x82")));
  EXPECT_TRUE(is_utf8("a\uFFFDé"));
  EXPECT_FALSE(is_utf8("a\xC3"));
}

}  // namespace
}  // namespace ingot
