#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/error/error.h"
#include "eval/harness/exact_match.h"
#include "eval/harness/harness_run.h"
#include "eval/harness/yaml_file.h"
#include "support/own_folder.h"
#include "support/source_path.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class Harness : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  // A task of two questions and three examples, with these lines besides.
  std::string task_file(const std::string& lines) const {
    write("test.jsonl",
          "{\"q\": \"1+1\", \"choices\": [\"two\", \"three\"], \"gold\": 0, \"n\": 7}\n"
          "{\"q\": \"2+2 \", \"choices\": [\"three\", \"four\"], \"gold\": 1, \"n\": 8}\n");
    write("train.jsonl",
          "{\"q\": \"0+1\", \"choices\": [\"one\", \"two\"], \"gold\": 0}\n"
          "{\"q\": \"0+2\", \"choices\": [\"one\", \"two\"], \"gold\": 1}\n"
          "{\"q\": \"0+0\", \"choices\": [\"no\", \"nil\"], \"gold\": 1}\n");
    return write("task.yaml",
                 "task: sums\n"
                 "dataset_path: json\n"
                 "dataset_kwargs:\n  data_files: {test: test.jsonl, train: train.jsonl}\n"
                 "test_split: test\n" +
                     lines);
  }
  HarnessTask task(const std::string& lines) const {
    return read_harness_task(*posix_storage(), task_file(lines));
  }
  std::string refusal(const std::string& lines) const {
    try {
      const HarnessTask read = task(lines);
      HarnessPrompts(read, {}).next();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_ = testing_support::own_folder();
};

MarkedText plain(std::string_view text) {
  return {text, /*from_template=*/false};
}

Texts texts_of(const HarnessPrompt& prompt) {
  Texts texts;
  for (const MarkedText& context : prompt.contexts) texts.push_back(context.text);
  return texts;
}

constexpr const char* kChoices =
    "output_type: multiple_choice\n"
    "doc_to_text: \"Q: {{q}}\\nA:\"\n"
    "doc_to_target: gold\n"
    "doc_to_choice: choices\n";

TEST_F(Harness, ChoicesFollowThePromptBehindTheDelimiter) {
  const HarnessTask sums = task(kChoices);
  HarnessPrompts prompts(sums, {});
  HarnessPrompt prompt = prompts.next();
  EXPECT_EQ(texts_of(prompt), Texts{"Q: 1+1\nA:"});
  EXPECT_EQ(prompt.continuations, (Texts{" two", " three"}));
  EXPECT_EQ(prompt.gold, std::vector<size_t>{0});
  prompt = prompts.next();
  EXPECT_EQ(texts_of(prompt), Texts{"Q: 2+2 \nA:"});
  EXPECT_EQ(prompt.gold, std::vector<size_t>{1});
}

TEST_F(Harness, TemplatesMakeTargetsAndChoices) {
  const HarnessTask sums = task(
      "output_type: multiple_choice\n"
      "description: \"Sums.\\n\\n\"\n"
      "target_delimiter: \"\"\n"
      "doc_to_text: \"{{q|trim}} \"\n"
      "doc_to_target: \"{{choices[gold]}}\"\n"
      "doc_to_choice: \"{{choices + ['it\\\\'s']}}\"\n");
  HarnessPrompts prompts(sums, {});
  prompts.next();
  const HarnessPrompt prompt = prompts.next();
  EXPECT_EQ(texts_of(prompt), Texts{"Sums.\n\n2+2 "});
  EXPECT_EQ(prompt.continuations, (Texts{"three", "four", "it's"}));
  EXPECT_EQ(prompt.gold, std::vector<size_t>{1});
}

// Jinja as the harness sets it up: no spaces and no last line end are trimmed.
TEST_F(Harness, TemplatesKeepTheirSpaces) {
  const HarnessTask sums = task(
      "output_type: multiple_choice\n"
      "doc_to_text: \"  {% if gold %}\\nyes{% endif %}\\n{{q}}\\n\"\n"
      "doc_to_target: gold\n"
      "doc_to_choice: choices\n");
  HarnessPrompts prompts(sums, {});
  EXPECT_EQ(texts_of(prompts.next()), Texts{"  \n1+1\n"});
  EXPECT_EQ(texts_of(prompts.next()), Texts{"  \nyes\n2+2 \n"});
}

// A number in place of the prompt: the choices are the contexts, as of schemas.
TEST_F(Harness, ChoicesMayBeTheContexts) {
  const HarnessTask sums = task(
      "output_type: multiple_choice\n"
      "doc_to_text: gold\n"
      "doc_to_target: \"is {{q}}\"\n"
      "doc_to_choice: choices\n");
  const HarnessPrompt prompt = HarnessPrompts(sums, {}).next();
  EXPECT_EQ(texts_of(prompt), (Texts{"two", "three"}));
  EXPECT_EQ(prompt.continuations, (Texts{" is 1+1", " is 1+1"}));
  EXPECT_EQ(prompt.gold, std::vector<size_t>{0});
}

// random.Random(1234).sample of three, for one document after the other.
TEST_F(Harness, ExamplesAreDrawnWithPythonsGenerator) {
  const HarnessTask sums = task(std::string(kChoices) + "num_fewshot: 2\nfewshot_split: train\n");
  HarnessPrompts prompts(sums, {});
  PythonRandom random(1234);
  const Texts solved = {"Q: 0+1\nA: one\n\n", "Q: 0+2\nA: two\n\n", "Q: 0+0\nA: nil\n\n"};
  for (const char* question : {"Q: 1+1\nA:", "Q: 2+2 \nA:"}) {
    const std::vector<size_t> drawn = random.sample(3, 2);
    EXPECT_EQ(texts_of(prompts.next()), Texts{solved[drawn[0]] + solved[drawn[1]] + question});
  }
  const HarnessTask first = task(std::string(kChoices) +
                                 "num_fewshot: 1\nfewshot_split: train\n"
                                 "fewshot_config: {sampler: first_n}\n");
  EXPECT_EQ(texts_of(HarnessPrompts(first, {}).next()), Texts{solved[0] + "Q: 1+1\nA:"});
}

TEST_F(Harness, AnItemIsNoExampleOfItself) {
  const HarnessTask sums = task(std::string(kChoices) + "num_fewshot: 1\nfewshot_split: test\n");
  HarnessPrompts prompts(sums, {});
  EXPECT_EQ(texts_of(prompts.next()), Texts{"Q: 2+2 \nA: four\n\nQ: 1+1\nA:"});
  EXPECT_EQ(texts_of(prompts.next()), Texts{"Q: 1+1\nA: two\n\nQ: 2+2 \nA:"});
}

TEST_F(Harness, AChatTemplateGetsTurns) {
  const HarnessTask sums = task(std::string(kChoices) +
                                "description: Add.\nnum_fewshot: 1\nfewshot_split: train\n"
                                "fewshot_config: {sampler: first_n}\n");
  const RenderChat render = [](const std::vector<HarnessMessage>& messages) {
    std::string text;
    for (const auto& [role, content] : messages) text += "<" + role + ">" + content;
    return MarkedText(text + "<assistant>", /*from_template=*/true);
  };
  const HarnessPrompt prompt = HarnessPrompts(sums, render).next();
  EXPECT_EQ(texts_of(prompt),
            Texts{"<system>Add.<user>Q: 0+1\nA:<assistant>one<user>Q: 1+1\nA:<assistant>"});
  EXPECT_EQ(prompt.continuations, (Texts{"two", "three"}));
}

// "</s>" of a document is text, that of the template ends a turn.
TEST_F(Harness, PromptsOfAChatHaveTheIdsOfConversations) {
  const auto tokenizer = load_tokenizer(
      *posix_storage(), testing_support::source_path("tests/golden/hf/llama/tokenizer.json"));
  ChatFiles files;
  files.templates["default"] = {
      "{{ bos_token }}{% for m in messages %}{{ m['content'] }}{{ eos_token }}{% endfor %}",
      "test"};
  files.variables = R"({"bos_token": "<s>", "eos_token": "</s>"})";
  const ChatFormat format(files, *tokenizer, tokenizer->bos(), {tokenizer->eos()}, "test");
  const HarnessIds ids{.ids = {*tokenizer, tokenizer->bos()}, .chat = &format, .max_tokens = 64};
  const std::string talk = R"([{"role": "user", "content": "ab</s>c"}])";

  const ScoredSequence pair = ids.pair(format.prompt(talk, "test"), "d</s>");
  const std::vector<int32_t> prompt = format.prompt_ids(talk, "test");
  EXPECT_EQ(pair.first_scored, prompt.size());
  ASSERT_GT(pair.ids.size(), prompt.size());
  EXPECT_TRUE(std::equal(prompt.begin(), prompt.end(), pair.ids.begin()));
  EXPECT_EQ(std::ranges::count(pair.ids, tokenizer->bos()), 1);
  EXPECT_EQ(std::ranges::count(pair.ids, tokenizer->eos()), 1);

  const std::string begun =
      R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b "}])";
  EXPECT_EQ(format.begun_reply(begun, "b ", "test").text, "<s>a</s>b ");
}

TEST_F(Harness, TheSpaceBelongsToTheContinuationAndTheContextKeepsItsEnd) {
  const auto tokenizer = byte_tokenizer();
  const HarnessIds ids{.ids = {*tokenizer, 256}, .empty_id = 256, .max_tokens = 8};
  EXPECT_EQ(ids.pair(plain("ab  "), "c").first_scored, 3u);  // BOS a b, then two spaces and c
  EXPECT_EQ(ids.pair(plain(""), "c").first_scored, 1u);
  EXPECT_EQ(ids.pair(plain(""), "c").ids, (std::vector<int32_t>{256, 'c'}));
  const ScoredSequence cut =
      ids.pair(plain("abcdefgh"), "ijk");  // nine: the last one is only scored
  EXPECT_EQ(cut.ids.size(), 9u);
  EXPECT_EQ(cut.first_scored, 6u);
  const HarnessIds bare{.ids = {*tokenizer, -1}, .empty_id = 256, .max_tokens = 8};
  EXPECT_EQ(bare.pair(plain("ab"), "c").ids, (std::vector<int32_t>{'a', 'b', 'c'}));
  EXPECT_EQ(bare.pair(plain(""), "c").ids, (std::vector<int32_t>{256, 'c'}));
}

// The harness counts the context's own tokens, and scores those of the whole text behind so many.
TEST_F(Harness, TokensThatReachOverTheBorderAreScoredAsTheHarnessDoes) {
  const auto tokenizer = load_tokenizer(
      *posix_storage(),
      write("tokenizer.json",
            "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"c\": 2, \"bc\": 3}, "
            "\"merges\": [\"b c\"]}}"));
  const HarnessIds ids{.ids = {*tokenizer, -1}, .empty_id = 0, .max_tokens = 8};
  const ScoredSequence pair = ids.pair(plain("ab"), "cc");  // «abcc» is a, bc, c
  EXPECT_EQ(pair.ids, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(pair.first_scored, 2u);
}

TEST_F(Harness, ADocumentIsScoredInTheHarnesssWindows) {
  const auto tokenizer = byte_tokenizer();
  const HarnessIds ids{.ids = {*tokenizer, 256}, .empty_id = 256, .max_tokens = 4};
  const std::vector<ScoredSequence> windows = ids.rolling("abcdefghij");
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_EQ(windows[0].ids, (std::vector<int32_t>{256, 'a', 'b', 'c', 'd'}));
  EXPECT_EQ(windows[1].ids, (std::vector<int32_t>{'d', 'e', 'f', 'g', 'h'}));
  EXPECT_EQ(windows[1].first_scored, 1u);
  // The last window scores two, and reads as much as the others.
  EXPECT_EQ(windows[2].ids, (std::vector<int32_t>{'f', 'g', 'h', 'i', 'j'}));
  EXPECT_EQ(windows[2].first_scored, 3u);
}

TEST_F(Harness, ExactMatchIgnoresWhatItIsTold) {
  const auto matches = [](const char* a, const char* b, HarnessTask::ExactMatch options) {
    return is_exact_match(a, b, options, "test");
  };
  EXPECT_FALSE(matches("The 4.", "the 4", {}));
  EXPECT_TRUE(matches("The 4.", "the 4", {.ignore_case = true, .ignore_punctuation = true}));
  EXPECT_TRUE(matches("a1", "a2", {.ignore_numbers = true}));
}

TEST_F(Harness, YamlIsTypedAsPyYamlDoes) {
  const auto yaml = read_task_yaml(write(
      "t.yaml", "a: yes\nb: \"yes\"\nc: 1\nd: 1e3\ne: 1.5\nf: ~\ng: [1, x]\nh: {k: v}\ni: null\n"));
  EXPECT_EQ(yaml.dump(),
            "{\"a\":true,\"b\":\"yes\",\"c\":1,\"d\":\"1e3\",\"e\":1.5,\"f\":null,"
            "\"g\":[1,\"x\"],\"h\":{\"k\":\"v\"},\"i\":null}");
}

TEST_F(Harness, AFileMayIncludeAnother) {
  write("base.yaml", "output_type: multiple_choice\ntest_split: a\n");
  const auto yaml = read_task_yaml(write("t.yaml", "include: base.yaml\ntest_split: b\n"));
  EXPECT_EQ(yaml["output_type"], "multiple_choice");
  EXPECT_EQ(yaml["test_split"], "b");
  write("base.yaml", "include: t.yaml\n");
  EXPECT_THROW(read_task_yaml((folder_ / "t.yaml").string()), Error);
}

TEST_F(Harness, WhatIsMissingOrNotSupportedIsNamed) {
  const auto expect = [&](const std::string& lines, const std::string& words) {
    const std::string error = refusal(lines);
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  expect(std::string(kChoices) + "process_docs: !function utils.process\n",
         "!function utils.process");
  expect("output_type: multiple_choice\ndoc_to_target: gold\n", "doc_to_text is missing");
  expect("output_type: multiple_choice\ndoc_to_target: gold\ndoc_to_text: q\n",
         "doc_to_choice is missing");
  expect(
      "output_type: multiple_choice\ndoc_to_text: \"{{question}}\"\ndoc_to_target: gold\n"
      "doc_to_choice: choices\n",
      "doc_to_text: «question» is no field of the document");
  expect("output_type: perplexity\n", "output_type: expected multiple_choice");
  expect(std::string(kChoices) + "test_split: valid\n", "there is no split «valid»");
  expect(std::string(kChoices) + "num_fewshot: 9\nfewshot_split: train\n", "num_fewshot");
  expect(std::string(kChoices) + "dataset_path: allenai/ai2_arc\n",
         "allenai/ai2_arc: data are not downloaded");
  expect("doc_to_text: q\ndoc_to_target: gold\nmetric_list: [{metric: bleu}]\n",
         "exact_match is scored, not «bleu»");
}

}  // namespace
}  // namespace ingot
