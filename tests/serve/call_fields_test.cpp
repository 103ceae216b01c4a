#include "serve/call_fields.h"

#include <gtest/gtest.h>

namespace ingot::serve {
namespace {

std::string refusal(const std::function<void()>& act) {
  try {
    act();
    return "";
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.json();
  }
}

TEST(CallFields, BodiesAreObjectsOfBoundedDepth) {
  for (const char* body : {"", "[]", "1", "{", "{\"a\":1,}", "{} x"})
    EXPECT_NE(refusal([&] { parse_body(body); }), "") << body;
  const auto nested = [](size_t depth) {
    return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  EXPECT_EQ(refusal([&] { parse_body(nested(kMostJsonDepth)); }), "");
  EXPECT_NE(refusal([&] { parse_body(nested(kMostJsonDepth + 1)); }).find("nested more than"),
            std::string::npos);
  EXPECT_NE(refusal([&] { parse_body(nested(1'000'000)); }), "");
  EXPECT_EQ(parse_body(R"({"a":"[[[\"[[["})")["a"], "[[[\"[[[");  // brackets of a text
}

TEST(CallFields, BytesThatAreNotUtf8BecomeReplacements) {
  EXPECT_EQ(parse_body("{\"a\":\"x\xFFy\"}")["a"], "x\xEF\xBF\xBDy");
}

TEST(CallFields, WrongValuesAreNamed) {
  const Json body = parse_body(
      R"({"t":1,"f":"x","i":1.5,"n":"1","big":18446744073709551615,"l":[1],"none":null})");
  CallFields fields(body);
  const auto names = [&](const char* name, const std::function<void()>& act) {
    const std::string text = refusal(act);
    EXPECT_NE(text.find(std::string("\"param\":\"") + name + "\""), std::string::npos) << text;
  };
  names("t", [&] { fields.text("t"); });
  names("f", [&] { fields.flag("f"); });
  names("i", [&] { fields.integer("i", 0, 9); });
  names("big", [&] { fields.integer("big", 0, INT64_MAX); });
  names("n", [&] { fields.number("n"); });
  names("l", [&] { fields.harmless("l", [](const Json& v) { return v.empty(); }); });
  EXPECT_EQ(fields.text("none"), std::nullopt);
  EXPECT_EQ(refusal([&] { fields.refuse_others(); }), "");
  CallFields others(body);
  names("t", [&] { others.refuse_others(); });
}

}  // namespace
}  // namespace ingot::serve
