#include "infer/text_stream.h"

#include <gtest/gtest.h>

#include "core/random/random.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

std::string streamed(std::string_view bytes, std::vector<std::string> stops,
                     std::vector<std::string>* pieces = nullptr) {
  const auto tokenizer = byte_tokenizer();
  TextStream stream(*tokenizer, std::move(stops));
  std::string all;
  const auto take = [&](std::string piece) {
    all += piece;
    if (pieces) pieces->push_back(std::move(piece));
  };
  for (const char byte : bytes) {
    take(stream.add(static_cast<unsigned char>(byte)));
    if (stream.is_stopped()) return all;
  }
  take(stream.finish());
  return all;
}

TEST(TextStream, NeverSplitsACharacter) {
  std::vector<std::string> pieces;
  EXPECT_EQ(streamed("é€😀x", {}, &pieces), "é€😀x");
  EXPECT_EQ(pieces, (std::vector<std::string>{"", "é", "", "", "€", "", "", "", "😀", "x", ""}));
}

TEST(TextStream, BytesThatAreNoCharacterBecomeReplacements) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(streamed("a\xFF"
                     "b",
                     {}),
            "a" + r + "b");
  EXPECT_EQ(streamed("\xC3", {}), r);                          // ends in the middle
  EXPECT_EQ(streamed("\xE2\x82z", {}), r + "z");               // a broken beginning is one
  EXPECT_EQ(streamed("\xC0\xAF", {}), r + r);                  // overlong
  EXPECT_EQ(streamed("\xED\xA0\x80", {}), r + r + r);          // a surrogate
  EXPECT_EQ(streamed("\xF4\x90\x80\x80", {}), r + r + r + r);  // beyond U+10FFFF
}

TEST(TextStream, AStopStringIsNeverShownNotEvenInPart) {
  std::vector<std::string> pieces;
  EXPECT_EQ(streamed("one END two", {"END"}, &pieces), "one ");
  for (const std::string& piece : pieces) EXPECT_EQ(piece.find('E'), std::string::npos);
  EXPECT_EQ(streamed("one EN two", {"END"}), "one EN two");
  EXPECT_EQ(streamed("one EN", {"END"}), "one EN");
  EXPECT_EQ(streamed("EEND", {"END"}), "E");
  EXPECT_EQ(streamed("aab aac", {"aac", "ab a"}), "a");  // whichever is complete first
  EXPECT_EQ(streamed("price: 5 €.", {"€"}), "price: 5 ");
}

TEST(TextStream, AnyBytesGiveTheTextOfTheWhole) {
  const RandomStream random(4, Purpose::Test);
  for (uint64_t round = 0; round < 2000; ++round) {
    std::string bytes;
    for (uint64_t i = 0; i < 12; ++i) {
      // Mostly bytes of characters of two to four.
      constexpr unsigned char kSome[] = {'a',  0xC3, 0xA9, 0xE2, 0x82, 0xAC,
                                         0xF0, 0x9F, 0x98, 0x80, 0xED, 0xFF};
      bytes += static_cast<char>(kSome[random.bits(round * 12 + i) % sizeof(kSome)]);
    }
    const std::string text = streamed(bytes, {"a€", "é😀"});
    EXPECT_TRUE(is_utf8(text)) << round;
  }
}

}  // namespace
}  // namespace ingot
