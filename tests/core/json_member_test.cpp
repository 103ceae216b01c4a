#include "core/json/json_member.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ingot {
namespace {

using Json = nlohmann::json;

constexpr char kText[] = R"({
  "name": "a \" brace } and \\",
  "list": [1,
           {"deep": 2},
           3],
  "object": {
    "x": [],
    "y": {}, "z":
      7
  }
})";

std::optional<int64_t> line_of(const std::vector<std::string>& member) {
  return line_of_member(kText, member);
}

TEST(LineOfMember, IsWhereTheMemberBegins) {
  ASSERT_TRUE(Json::accept(kText));
  EXPECT_EQ(line_of({"name"}), 2);
  EXPECT_EQ(line_of({"list"}), 3);
  EXPECT_EQ(line_of({"list", "0"}), 3);
  EXPECT_EQ(line_of({"list", "1", "deep"}), 4);
  EXPECT_EQ(line_of({"list", "2"}), 5);
  EXPECT_EQ(line_of({"object", "x"}), 7);
  EXPECT_EQ(line_of({"object", "z"}), 8);
}

TEST(LineOfMember, OfAMissingOneIsThatOfWhatItIsMissingFrom) {
  EXPECT_EQ(line_of({"object", "w"}), 6);
  EXPECT_EQ(line_of({"list", "3"}), 3);
  EXPECT_EQ(line_of({"object", "x", "0"}), 7);
  EXPECT_EQ(line_of({"nothing"}), std::nullopt);
}

TEST(LineOfMember, OfATextThatIsCutIsNoCrash) {
  const std::string text = kText;
  for (size_t size = 0; size < text.size(); ++size)
    for (const char* key : {"name", "list", "object", "nothing"})
      line_of_member(std::string_view(text).substr(0, size), std::vector<std::string>{key, "x"});
}

std::string refusal(const std::string& text, const std::function<void(const Json&)>& read) {
  try {
    read(Json::parse(text));
  } catch (const Json::exception& error) {
    return located<Json>("a.json", text, error);
  } catch (const Error& error) {
    return located("a.json", text, error);
  }
  return "";
}

TEST(Located, SaysFileLineAndMember) {
  const auto read = [](const Json& json) {
    at_member<Json>("outer", [&] {
      return at_member<Json>("inner", [&] {
        check(json["outer"]["inner"] != 2, ErrorCode::Config, "expected 1, got 2");
        return json["outer"]["inner"].get<int>();
      });
    });
  };
  EXPECT_EQ(refusal("{\"outer\":\n{\"inner\":\n1}}", read), "");
  EXPECT_EQ(refusal("{\"outer\":\n{\n\"inner\":2}}", read),
            "a.json, line 3: outer: inner: expected 1, got 2");
  EXPECT_EQ(refusal("{\"outer\":\n{\n\"inner\":[]}}", read),
            "a.json, line 3: outer: inner: a value has another type than expected");
}

TEST(Located, SaysWhereATextCeasesToBeJson) {
  EXPECT_EQ(refusal("{\n\"a\": 1\n\"b\": 2}", [](const Json&) {}),
            "a.json, line 3: it is not JSON");
  EXPECT_EQ(refusal("", [](const Json&) {}), "a.json, line 1: it is not JSON");
}

TEST(Located, OfAnErrorAboutNoMemberNamesTheFile) {
  EXPECT_EQ(refusal("{}", [](const Json&) { throw Error(ErrorCode::Data, "expected more"); }),
            "a.json: expected more");
}

}  // namespace
}  // namespace ingot
