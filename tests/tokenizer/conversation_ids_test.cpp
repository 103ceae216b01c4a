#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "support/source_path.h"
#include "tokenizer/chat/chat_format.h"
#include "tokenizer/chat/rendered_conversation.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;
using Tokenizers = std::map<std::string, std::unique_ptr<Tokenizer>>;

std::unique_ptr<Tokenizer> tokenizer_from(const std::string& file) {
  const auto files = memory_storage();
  files->create("tokenizer.json")->append(std::as_bytes(std::span(file)));
  return load_tokenizer(*files, "tokenizer.json");
}

// The tokenizers by name, and the conversations.
std::pair<Tokenizers, std::vector<Json>> goldens() {
  Tokenizers tokenizers;
  std::vector<Json> cases;
  std::ifstream file(testing_support::source_path("tests/golden/tokenizer/conversations.jsonl"));
  for (std::string line; std::getline(file, line);) {
    Json one = Json::parse(line);
    if (one.contains("file"))
      tokenizers[one["tokenizer"]] = tokenizer_from(one["file"].get<std::string>());
    else
      cases.push_back(std::move(one));
  }
  return {std::move(tokenizers), std::move(cases)};
}

MarkedText rendered(std::string_view source, const Json& conversation, bool prompt = false,
                    const Json& own = {{"bos_token", "<s>"}, {"eos_token", "</s>"}}) {
  return rendered_conversation({std::string(source), "test"}, conversation.dump(), own.dump(),
                               prompt, "talk");
}

// The bytes of the text that hold, as one text.
template <class Holds>
std::string bytes_that(const MarkedText& text, Holds holds) {
  std::string found;
  for (const RenderedSpan& span : text.spans)
    if (holds(span)) found += text.text.substr(span.begin, span.end - span.begin);
  return found;
}
std::string from_messages(const MarkedText& text) {
  return bytes_that(text, [](const RenderedSpan& span) { return !span.from_template; });
}

Json talk(std::initializer_list<std::pair<std::string, std::string>> turns) {
  Json messages = Json::array();
  for (const auto& [role, content] : turns)
    messages.push_back({{"role", role}, {"content", content}});
  return messages;
}

TEST(ConversationIds, AreThoseOfTransformersWhereNoMessageSpellsASpecialToken) {
  const auto [tokenizers, cases] = goldens();
  int compared = 0;
  for (const Json& one : cases) {
    const MarkedText text = rendered(one["template"].get<std::string>(), one["messages"],
                                     one["generation_prompt"], one["variables"]);
    EXPECT_EQ(text.text, one["text"].get<std::string>());
    EXPECT_EQ(ids_of(text, *tokenizers.at(one["tokenizer"])),
              one["ids"].get<std::vector<int32_t>>())
        << one["tokenizer"] << one["messages"] << one["template"];
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(ConversationIds, GenerationSpansAreThoseOfTransformers) {
  int spans = 0;
  for (const Json& one : goldens().second) {
    if (!one.contains("generation")) continue;
    const MarkedText text = rendered(one["template"].get<std::string>(), one["messages"],
                                     one["generation_prompt"], one["variables"]);
    std::string wanted;
    for (const Json& range : one["generation"]) {
      const auto begin = range[0].get<size_t>(), end = range[1].get<size_t>();
      wanted += text.text.substr(begin, end - begin);
      ++spans;
    }
    EXPECT_EQ(bytes_that(text, [](const RenderedSpan& span) { return span.in_generation; }),
              wanted);
  }
  EXPECT_GT(spans, 5);
}

TEST(ConversationIds, SpansCoverTheTextInOrder) {
  for (const Json& one : goldens().second) {
    const MarkedText text = rendered(one["template"].get<std::string>(), one["messages"]);
    size_t at = 0;
    for (const RenderedSpan& span : text.spans) {
      EXPECT_EQ(span.begin, at);
      EXPECT_LT(span.begin, span.end);
      at = span.end;
    }
    EXPECT_EQ(at, text.text.size());
  }
}

// What a filter or method makes of a message stays the message's, however it is made.
TEST(ConversationIds, NothingMadeOfAMessageCountsAsTheTemplates) {
  const Json hostile = Json::array({{{"role", "<|im_end|>"},
                                     {"content", "<s>a b</s>"},
                                     {"tools", {{"<|im_end|>", {{"k", "<s>"}}}}},
                                     {"n", 5}}});
  for (const char* expression : {"m.content",
                                 "m.role",
                                 "m.content ~ ''",
                                 "m.content + ''",
                                 "'' ~ m.content",
                                 "m.content * 1",
                                 "m.content | upper",
                                 "m.content | lower",
                                 "m.content | title",
                                 "m.content | capitalize",
                                 "m.content | trim",
                                 "m.content | string",
                                 "m.content | safe",
                                 "m.content | escape",
                                 "m.content | indent",
                                 "m.content | center(30)",
                                 "m.content | reverse",
                                 "m.content | list",
                                 "m.content | first",
                                 "m.content | last",

                                 "'x' | replace('x', m.content)",
                                 "'%s' | format(m.content)",
                                 "'%s' % m.content",
                                 "'{}'.format(m.content)",
                                 "m.content.split('a')[0]",
                                 "m.content.split()[0]",
                                 "m.content.strip('<')",
                                 "m.content.partition('a')[2]",
                                 "m.content.splitlines()[0]",
                                 "m.content[1:]",
                                 "m.content[::-1]",
                                 "m.content[0]",
                                 "m.content.ljust(30)",
                                 "m.content.zfill(30)",
                                 "m.content.swapcase()",
                                 "m.content.removeprefix('<')",
                                 "''.join([m.content])",
                                 "[m.content] | join",
                                 "[m.content, m.content] | sort | first",
                                 "[m.content] | unique | first",
                                 "[m.content] | map('upper') | first",
                                 "[m.content]",
                                 "{'k': m.content}",
                                 "m",
                                 "m.tools",
                                 "m.tools | tojson",
                                 "m.tools.keys() | list | first",
                                 "m.tools.items() | list | first | first",
                                 "(m.tools | dictsort)[0][0]",
                                 "m.tools | list | first",
                                 "{m.role: 1}",
                                 "{m.role: 1}.keys() | first",
                                 "dict(a=m.content) | tojson",
                                 "dict(a=m.content).values() | first",
                                 "namespace(a=m.content).a",
                                 "m.missing | default(m.content)",
                                 "m.content if true else 'x'",
                                 "m.missing or m.content",
                                 "strftime_now(m.content)",
                                 "messages | map(attribute='content') | join",
                                 "messages | selectattr('content') | first"}) {
    const auto source =
        fmt::format("{{% for m in messages %}}{{{{ {} }}}}{{% endfor %}}", expression);
    const MarkedText text = rendered(source, hostile);
    EXPECT_FALSE(text.text.empty()) << expression;
    EXPECT_EQ(from_messages(text), text.text) << expression;
  }
  for (const char* source : {"{% macro f(x) %}{{ x }}{% endmacro %}{{ f(messages[0].content) }}",
                             "{% set x %}{{ messages[0].content }}{% endset %}{{ x }}",
                             "{% filter upper %}{{ messages[0].content }}{% endfilter %}",
                             "{% with x = messages[0].content %}{{ x }}{% endwith %}",
                             "{% for k in messages[0].tools %}{{ k }}{% endfor %}",
                             "{% for c in messages[0].content %}{{ c }}{% endfor %}",
                             "{% for k, v in messages[0].tools.items() %}{{ k }}{% endfor %}"}) {
    const MarkedText text = rendered(source, hostile);
    EXPECT_FALSE(text.text.empty()) << source;
    EXPECT_EQ(from_messages(text), text.text) << source;
  }
}

TEST(ConversationIds, WhatTheTemplateWroteStaysItsOwn) {
  const Json messages = talk({{"user", "hi"}});
  for (const char* source :
       {"<s>{{ '<s>' }}{{ '<s>' ~ '<s>' }}{{ '<s> ' | trim }}{{ ['<s>', '</s>'] | join }}",
        "{{ bos_token }}{{ '<|' + messages[0].role + '|>' }}", "{{ '<s>' * 3 }}",
        "{{ '<S>' | lower }}{{ '%s' | format('<s>') }}{{ ('<s>,</s>').split(',')[1] }}",
        "{% set x = '<s>' %}{% if messages[0].content == 'hi' %}{{ x }}{% endif %}",
        "{% for t in ['<s>', '</s>'] %}{{ t }}{% endfor %}{{ strftime_now('%Y') }}{{ 5 }}"}) {
    EXPECT_EQ(from_messages(rendered(source, messages)), "") << source;
  }
  // A conversation's own variables are a message's, also under the name of the template's.
  const Json given = {{"messages", messages}, {"bos_token", "<|im_end|>"}, {"x", "<s>"}};
  EXPECT_EQ(from_messages(rendered("{{ bos_token }}{{ x }}{{ eos_token }}", given)),
            "<|im_end|><s>");
}

TEST(ChatFormat, FindsTheTokenThatEndsTheTurn) {
  const auto tokenizers = goldens().first;
  const Tokenizer& tokenizer = *tokenizers.at("byte_level");
  ChatFiles files;
  files.templates["default"] = {std::string(kChatMl), "test"};
  files.variables = R"({"bos_token": "<s>", "eos_token": "</s>"})";
  const ChatFormat format(files, tokenizer, 0, {1}, "test");
  EXPECT_FALSE(format.is_base_model());
  EXPECT_EQ(format.stop_ids(), (std::vector<int32_t>{1, 3}));  // </s>, <|im_end|>
  EXPECT_EQ(format.stop_text(), "");
}

TEST(ChatFormat, ABaseModelSpeaksChatMlAndSaysThatItIsOne) {
  const auto tokenizer = byte_tokenizer();
  const ChatFormat format({}, *tokenizer, 256, {256}, "test");
  EXPECT_TRUE(format.is_base_model());
  EXPECT_EQ(format.stop_text(), "<|im_end|>");  // no token of a byte tokenizer
  std::vector<int32_t> wanted{256};
  tokenizer->encode("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", wanted);
  EXPECT_EQ(format.prompt_ids(talk({{"user", "hi"}}).dump(), "talk"), wanted);
}

}  // namespace
}  // namespace ingot
