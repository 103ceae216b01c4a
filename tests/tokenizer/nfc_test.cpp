#include "tokenizer/unicode/nfc.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>

#include "core/random/random.h"

namespace ingot {
namespace {

std::string nfc(std::string_view text) {
  std::string storage;
  return std::string(to_nfc(text, storage));
}

std::string whole_text_by_library(const std::string& text) {
  utf8proc_uint8_t* normal = utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str()));
  const std::string result(reinterpret_cast<const char*>(normal));
  std::free(normal);
  return result;
}

TEST(Nfc, ComposesAndOrders) {
  EXPECT_EQ(nfc("cafe\u0301"), "caf\u00E9");
  EXPECT_EQ(nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(nfc("\u1112\u1161\u11AB"), "\uD55C");
  EXPECT_EQ(nfc("\u212B"), "\u00C5");
  EXPECT_EQ(nfc(""), "");
}

TEST(Nfc, TextThatIsNormalIsNotCopied) {
  std::string storage;
  const std::string_view text = "plain, café, 你好, 한국어";
  EXPECT_EQ(to_nfc(text, storage).data(), text.data());
}

TEST(Nfc, BrokenUtf8StaysAndStopsNothing) {
  EXPECT_EQ(nfc("\xFF\xE4\xBD"
                "e\u0301\xC3"),
            "\xFF\xE4\xBD\u00E9\xC3");
  EXPECT_EQ(nfc("e\xFF\u0301"), "e\xFF\u0301");
}

TEST(Nfc, StretchByStretchGivesWhatTheWholeTextGives) {
  const std::vector<std::string> parts{
      "a",      "e",      "E",      " ",      "\u0301", "\u0327", "\u0323",    "\u0307",
      "\u1100", "\u1161", "\u11A8", "\uAC00", "\u0915", "\u093C", "\u212B",    "\u0344",
      "\u00E9", "\u0C46", "\u0C56", "\uFB1D", "你",     "😀",      "\U0001D15E"};
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const RandomStream random(seed, Purpose::Test);
    std::string text;
    for (uint64_t i = 0; i < 1 + seed % 40; ++i) text += parts[random.bits(i) % parts.size()];
    ASSERT_EQ(nfc(text), whole_text_by_library(text)) << text;
  }
}

// As Hugging Face tokenizers, whose tables are Unicode 9's: U+07FD came with Unicode 11.
TEST(Nfc, MarksYoungerThanUnicode9StayWhereTheyAre) {
  EXPECT_EQ(nfc("\u07F3\u07FD"), "\u07F3\u07FD");
  EXPECT_EQ(nfc("a\u07FD\u0301"), "a\u07FD\u0301");
  EXPECT_EQ(nfc("a\u07FD\u0301\u0323e\u0301"), "a\u07FD\u0323\u0301\u00E9");
  EXPECT_EQ(nfc("\U00011935\U00011930"), "\U00011935\U00011930");
}

}  // namespace
}  // namespace ingot
