#include "tokenizer/chat/chat_template.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;

std::string rendered(std::string_view source, const Json& variables = Json::object()) {
  return ChatTemplate(source, "test").render(variables.dump());
}

std::string refusal(std::string_view source) {
  try {
    return "«" + rendered(source) + "» was rendered";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    return error.what();
  }
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

// Templates in the style of ChatML, Llama 2 and 3, Qwen 2, Mistral, Gemma and Zephyr, and every
// feature by itself; tools/goldens/make_chat_goldens.py has them.
TEST(ChatTemplate, GivesTheTextThatJinjaGives) {
  std::ifstream goldens(testing_support::source_path("tests/golden/tokenizer/chat.jsonl"));
  int cases = 0, refused = 0;
  for (std::string line; std::getline(goldens, line); ++cases) {
    const Json golden = Json::parse(line);
    const auto source = golden["template"].get<std::string>();
    if (golden.contains("text")) {
      try {
        EXPECT_EQ(rendered(source, golden["variables"]), golden["text"].get<std::string>())
            << source << "\n"
            << golden["variables"];
      } catch (const Error& error) {
        ADD_FAILURE() << error.what() << "\n" << source;
      }
    } else {
      EXPECT_THROW(rendered(source, golden["variables"]), Error) << source;
      ++refused;
    }
  }
  EXPECT_GT(cases, 120);
  EXPECT_GT(refused, 30);
}

TEST(ChatTemplate, SaysWhereItIsWrong) {
  expect_part(refusal("a\nb\n{{ 1 + }}"), "test, line 3 of the chat template: expected a value");
  expect_part(refusal("a\n{% if x %}\n{{ x.y.z }}{% endif %}{{ x.y }}"), "line 3");
  expect_part(refusal("\n{{ x.y }}"), "line 2 of the chat template: «x» is undefined");
  expect_part(refusal("{{ raise_exception('Only users.') }}"), "Only users.");
  expect_part(refusal("{% include 'x' %}"), "«include» is not supported");
  expect_part(refusal("{{ {1: 2} }}"), "a key of a dict: expected a string, got a number");
  expect_part(refusal("{{ '{:>5}'.format(1) }}"), "«{:>5}» is not supported");
  expect_part(refusal("{{ '%5z' % 1 }}"), "«%z» is no kind of format");
  expect_part(refusal("{{ 'abc'.find('b', 1) }}"), "places are not supported");
  EXPECT_THROW(ChatTemplate("", "test").render("[]"), Error);
}

TEST(ChatTemplate, EndsWhatWouldNotEnd) {
  const std::string many = "{% for a in range(99999) %}";
  expect_part(refusal(many + many + "{% endfor %}{% endfor %}"), "does not end");
  expect_part(refusal("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), "too deeply");
  expect_part(refusal("{{ 'a' * 9000000000000000000 }}"), "too long");
  expect_part(
      refusal("{% set n = namespace(t='ab') %}" + many + "{% set n.t = n.t + n.t %}{% endfor %}"),
      "too long");
  expect_part(refusal("{{ 9223372036854775807 + 1 }}"), "too large");
  expect_part(refusal("{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}"),
              "too deeply");
  std::string sum = "{{ 1";
  for (int i = 0; i < 5000; ++i) sum += "+1";
  expect_part(refusal(sum + " }}"), "too deeply");
}

TEST(ChatTemplate, NamespacesMayHoldThemselves) {
  EXPECT_EQ(rendered("{% set n = namespace() %}{% set n.me = [n] %}{{ n.me[0] == n }}"), "True");
}

TEST(ChatTemplate, KnowsTheDate) {
  const std::string year = rendered("{{ strftime_now('%Y') }}");
  EXPECT_EQ(year.size(), 4u);
  EXPECT_EQ(year.substr(0, 2), "20");
}

TEST(ChatFiles, AreReadFromTheTokenizersFolder) {
  const auto storage = memory_storage();
  const auto write = [&](const std::string& path, std::string_view text) {
    storage->make_directories(parent_path(path));
    write_file_atomically(*storage, path, text);
  };
  write("a/tokenizer_config.json",
        R"({"chat_template": "{{ bos_token }}", "bos_token": {"content": "<s>"}, "pad_token": null,
            "eos_token": "</s>"})");
  const ChatFiles files = read_chat_files(*storage, "a");
  const ChatFiles::Source& source = files.chosen(false, "a");
  EXPECT_EQ(source.text, "{{ bos_token }}");
  EXPECT_EQ(files.variables, R"({"bos_token":"<s>","eos_token":"</s>"})");
  EXPECT_EQ(ChatTemplate(source.text, source.origin).render(files.variables), "<s>");

  write("a/chat_template.jinja", "newer");
  EXPECT_EQ(read_chat_files(*storage, "a").chosen(true, "a").text, "newer");
  write("b/tokenizer_config.json", R"({"chat_template": [{"name": "tool_use", "template": "t"},
                                                         {"name": "default", "template": "d"}]})");
  EXPECT_EQ(read_chat_files(*storage, "b").chosen(false, "b").text, "d");
  EXPECT_EQ(read_chat_files(*storage, "b").chosen(true, "b").text, "t");
  write("b/additional_chat_templates/tool_use.jinja", "file");
  EXPECT_EQ(read_chat_files(*storage, "b").chosen(true, "b").text, "file");
  EXPECT_TRUE(read_chat_files(*storage, "none").templates.empty());
}

}  // namespace
}  // namespace ingot
