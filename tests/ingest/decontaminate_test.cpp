#include <gtest/gtest.h>

#include "core/error/error.h"
#include "ingest/decontaminate/contamination_index.h"

namespace ingot::test {
namespace {

ContaminationSettings by_whitespace() {
  ContaminationSettings settings;
  settings.splitter = "whitespace";
  return settings;
}

// "q0 q1 … " with `count` words.
std::string words(const std::string& prefix, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    // Letters, since the normal form makes 0 of every number.
    text += (i == 0 ? "" : " ") + prefix + std::string(1, static_cast<char>('a' + i));
  }
  return text;
}

std::optional<ContaminationFinder::Found> look_for(const ContaminationSettings& settings,
                                                   const std::vector<EvalTask>& tasks,
                                                   const std::string& text) {
  const ContaminationIndex index(settings, tasks);
  return ContaminationFinder(index).find(text);
}

std::string part(const std::string& text, int first, int count) {
  size_t begin = 0;
  for (int i = 0; i < first; ++i) begin = text.find(' ', begin) + 1;
  size_t end = begin;
  for (int i = 0; i < count; ++i) end = std::min(text.find(' ', end + 1), text.size());
  return text.substr(begin, end - begin);
}

TEST(Contamination, TwelveWordsOfALabelAreFoundAndElevenAreNot) {
  const std::string label = words("l", 15);
  const std::vector<EvalTask> tasks = {{"task", {{"question", label}}}};
  for (int first = 0; first + 12 <= 15; ++first) {
    const auto found =
        look_for(by_whitespace(), tasks, "before " + part(label, first, 12) + " after");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->n_gram, part(label, first, 12));
  }
  EXPECT_FALSE(look_for(by_whitespace(), tasks, "before " + part(label, 0, 11) + " after"));
  EXPECT_FALSE(look_for(by_whitespace(), tasks, part(label, 4, 11)));
}

TEST(Contamination, NGramsAcrossQueryAndLabelAreFoundForEveryCut) {
  const std::string query = words("q", 20), label = words("l", 20), both = query + " " + label;
  const std::vector<EvalTask> tasks = {{"task", {{query, words("l", 11)}}}};
  // First word of the n-gram in the query from 9 (eleven of the query, one of the label) to 19.
  for (int first = 0; first <= 28; ++first) {
    const bool straddles = first >= 9 && first <= 19;
    EXPECT_EQ(look_for(by_whitespace(), tasks, part(both, first, 12)).has_value(), straddles)
        << first;
  }
  ContaminationSettings without = by_whitespace();
  without.straddling = false;
  EXPECT_FALSE(look_for(without, tasks, both));
}

TEST(Contamination, AQueryAloneCountsOnlyOnRequest) {
  const std::string query = words("q", 14);
  const std::vector<EvalTask> tasks = {{"task", {{query, "yes"}}}};
  EXPECT_FALSE(look_for(by_whitespace(), tasks, query + " no"));
  EXPECT_TRUE(look_for(by_whitespace(), tasks, query + " yes"));
  ContaminationSettings settings = by_whitespace();
  settings.query = true;
  EXPECT_TRUE(look_for(settings, tasks, query + " no"));
}

TEST(Contamination, CaseNumbersAndPunctuationDoNotHideAnItem) {
  const std::vector<EvalTask> tasks = {
      {"task", {{"", "In 1990, the old Café had exactly 12 chairs; and no one sat there!"}}}};
  const auto found = look_for(
      {}, tasks, "… IN 2024 THE OLD CAFE (had exactly 7 chairs and no one), sat there. Or so");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->n_gram, "in 0 the old cafe had exactly 0 chairs and no one");
}

TEST(Contamination, ItemsTooShortForAnNGramAreCountedByTask) {
  const std::vector<EvalTask> tasks = {
      {"short", {{"one two", "three"}, {words("q", 11), "l"}, {words("q", 10), "l"}}},
      {"long", {{"", words("l", 12)}, {words("q", 12), ""}}}};
  const ContaminationIndex index(by_whitespace(), tasks);
  EXPECT_EQ(index.tasks()[0].items, 3);
  EXPECT_EQ(index.tasks()[0].unprotected, 2);  // 11 + 1 words are just enough
  EXPECT_EQ(index.tasks()[1].unprotected, 1);  // a query without label
  ContaminationSettings with_query = by_whitespace();
  with_query.query = true;
  EXPECT_EQ(ContaminationIndex(with_query, tasks).tasks()[1].unprotected, 0);
}

TEST(Contamination, AnNGramOfSeveralTasksBelongsToTheFirst) {
  const std::string label = words("l", 12);
  const auto found = look_for(
      by_whitespace(), {{"a", {{"", "x"}}}, {"b", {{"", label}}}, {"c", {{"", label}}}}, label);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->task, 1u);
}

TEST(EvalItems, AllThreeFormsAreRead) {
  const EvalTask task = parse_eval_task("t",
                                        R"({"query":"Q","choices":["a","b"],"gold":1}
{"context":"C","continuation":"D"}

{"context_options":["E","F"],"continuation":"G","gold":0})",
                                        "t.jsonl");
  ASSERT_EQ(task.items.size(), 3u);
  EXPECT_EQ(task.items[0].query, "Q");
  EXPECT_EQ(task.items[0].label, "b");
  EXPECT_EQ(task.items[1].query, "C");
  EXPECT_EQ(task.items[1].label, "D");
  EXPECT_EQ(task.items[2].query, "E");
  EXPECT_EQ(task.items[2].label, "G");
}

TEST(EvalItems, WhatIsNoItemIsRefusedWithItsLine) {
  for (const char* line :
       {"no json", "[]", "{}", R"({"query":"Q","choices":["a"],"gold":1})",
        R"({"query":"Q","choices":["a"],"gold":-1})", R"({"query":"Q","choices":"a","gold":0})",
        R"({"query":"Q","choices":["a"]})", R"({"query":1,"choices":["a"],"gold":0})",
        R"({"context":"C"})", "{\"context\":\"\xFF\",\"continuation\":\"D\"}"}) {
    const std::string text = std::string("{\"context\":\"C\",\"continuation\":\"D\"}\n") + line;
    try {
      parse_eval_task("t", text, "t.jsonl");
      FAIL() << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data);
      EXPECT_NE(std::string(error.what()).find("t.jsonl, line 2"), std::string::npos) << line;
    }
  }
  EXPECT_THROW(parse_eval_task("t", "\n\n", "t.jsonl"), Error);
}

}  // namespace
}  // namespace ingot::test
