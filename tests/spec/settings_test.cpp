#include "spec/settings/settings.h"

#include <gtest/gtest.h>

#include "core/text/nearest.h"
#include "spec/error_text.h"

namespace ingot {
namespace {

int64_t read_integer(std::string_view text) {
  int64_t field = -1;
  set_from_text(integer_setting("n", field, {0, 1e15}, "", ""), text);
  return field;
}

double read_number(std::string_view text) {
  double field = -1;
  set_from_text(number_setting("x", field, {0, 0}, "", ""), text);
  return field;
}

TEST(Settings, IntegersReadInEveryDocumentedForm) {
  EXPECT_EQ(read_integer("1000000"), 1000000);
  EXPECT_EQ(read_integer("1_000_000"), 1000000);
  EXPECT_EQ(read_integer("1e6"), 1000000);
  EXPECT_EQ(read_integer("64k"), 64000);
  EXPECT_EQ(read_integer("20M"), 20000000);
  EXPECT_EQ(read_integer("2B"), 2000000000);
  EXPECT_EQ(read_integer("1T"), 1000000000000);
  EXPECT_EQ(read_integer("4.35k"), 4350);
}

TEST(Settings, TextThatIsNoIntegerIsRefused) {
  for (const char* text : {"", "k", "1.5", "1e-3", "ten", "1_", "_1", "1__0", "0x10", "5 ", "1e3k",
                           "nan", "inf", "1e300", "64K", "2e15", "-1", "99999999999999999999"})
    EXPECT_NE(error_text([&] { read_integer(text); }).find("n: expected a whole number from 0 to "),
              std::string::npos)
        << text;
}

TEST(Settings, NumbersReadAsTheNearestDouble) {
  EXPECT_EQ(read_number("3e-4"), 3e-4);
  EXPECT_EQ(read_number("7"), 7.0);
  EXPECT_EQ(read_number("-0.1"), -0.1);
  EXPECT_EQ(error_text([] { read_number("inf"); }), "x: expected a number, got inf");
  EXPECT_EQ(error_text([] { read_number("2B"); }), "x: expected a number, got \"2B\"");
}

TEST(Settings, FlagsAreTrueOrFalse) {
  bool field = false;
  const Setting setting = flag_setting("f", field, "");
  set_from_text(setting, "true");
  EXPECT_TRUE(field);
  set_from_text(setting, "false");
  EXPECT_FALSE(field);
  EXPECT_EQ(error_text([&] { set_from_text(setting, "yes"); }),
            "f: expected true or false, got \"yes\"");
  EXPECT_EQ(error_text([&] { setting.set(int64_t{1}); }), "f: expected true or false, got 1");
}

TEST(Settings, ChoicesNameTheNearest) {
  enum class Fruit { Apple, Pear };
  Fruit field = Fruit::Apple;
  const Setting setting =
      enum_setting<Fruit>("fruit", field, {{"apple", Fruit::Apple}, {"pear", Fruit::Pear}}, "");
  set_from_text(setting, "pear");
  EXPECT_EQ(field, Fruit::Pear);
  EXPECT_EQ(error_text([&] { set_from_text(setting, "aple"); }),
            "fruit: expected one of apple, pear, got \"aple\"; did you mean apple?");
  EXPECT_EQ(field, Fruit::Pear);
}

TEST(Settings, TextIsUtf8WithoutControlCharacters) {
  std::string field;
  const Setting setting = text_setting("t", field, "");
  for (const char* good : {"", "runs/a b", "größe/日本/🙂", "\"quoted\" \\ back"}) {
    set_from_text(setting, good);
    EXPECT_EQ(field, good);
  }
  field = "kept";
  for (const char* bad :
       {"a\nb", "\x7f", "\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe3\x81", "\x80"})
    EXPECT_NE(error_text([&] { set_from_text(setting, bad); }).find("t: expected UTF-8 text"),
              std::string::npos);
  EXPECT_EQ(field, "kept");
}

TEST(Settings, TomlTextKeepsEveryBitOfANumber) {
  EXPECT_EQ(toml_text(0.1), "0.1");
  EXPECT_EQ(toml_text(10000.0), "10000.0");
  EXPECT_EQ(toml_text(1e-5), "1e-05");
  EXPECT_EQ(toml_text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(toml_text(int64_t{-5}), "-5");
  EXPECT_EQ(toml_text(true), "true");
  EXPECT_EQ(toml_text(std::string("a\"b\\")), "\"a\\\"b\\\\\"");
}

}  // namespace
}  // namespace ingot
