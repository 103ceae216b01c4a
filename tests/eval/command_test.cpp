#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/run_fixture.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

using Json = nlohmann::json;

class EvalCommand : public RunFixture {
 protected:
  void SetUp() override {
    RunFixture::SetUp();
    write("core/copa.jsonl",
          "{\"query\": \"it rained\", \"choices\": [\"so we ran\", \"so we sang\"], \"gold\": 0}\n"
          "{\"query\": \"it shone\", \"choices\": [\"we ran\", \"we ran\"], \"gold\": 1}\n");
    write("core/deep/winograd_wsc.jsonl",
          "{\"context_options\": [\"the dog\", \"a cat\"], \"continuation\": \"ran\", \"gold\": "
          "1}\n");
    write("docs/a/one.txt",
          "some text of one source, longer than a window of sixty-four tokens is");
    write("docs/b/two.txt", "some text of another");
  }
  static std::string model() { return testing_support::source_path("tests/golden/hf/llama"); }
  static Json last_line(const Outcome& outcome) {
    const size_t end = outcome.out.find_last_not_of('\n');
    const size_t begin = outcome.out.rfind('\n', end);
    return Json::parse(outcome.out.substr(begin == std::string::npos ? 0 : begin + 1));
  }
  std::vector<Json> lines_of(const std::string& name) const {
    std::ifstream file(path(name));
    std::vector<Json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  void expect_refused(const Args& args, const std::string& words) const {
    const Outcome outcome = ingot(args);
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  }
};

TEST_F(EvalCommand, APartOfCoreIsNoCoreAndEveryItemIsWritten) {
  const Outcome outcome =
      ingot({"eval", model(), "--tasks", path("core"), "--out", path("items.jsonl"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("core_v1 = n/a (2 of 22 tasks)"), std::string::npos) << outcome.out;
  const Json core = last_line(outcome)["core"];
  EXPECT_TRUE(core["core_v1"].is_null());
  EXPECT_EQ(core["tasks"].size(), 2u);
  EXPECT_EQ(core["tasks"][0]["empty_ranges"], 1);
  const std::vector<Json> items = lines_of("items.jsonl");
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0]["losses"].size(), 2u);
}

TEST_F(EvalCommand, TextIsScoredAsAWholeBySourceAndByFile) {
  const Outcome outcome = ingot({"eval", model(), "--text", path("docs"), "--window", "16",
                                 "--stride", "8", "--out", path("items.jsonl"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json text = last_line(outcome)["text"];
  EXPECT_EQ(text["window"], 16);
  EXPECT_EQ(text["stride"], 8);
  ASSERT_EQ(text["sources"].size(), 2u);
  EXPECT_EQ(text["sources"][0]["name"], "a");
  EXPECT_EQ(text["files"][1]["name"], "b/two.txt");
  double loss = 0, tokens = 0;
  for (const Json& file : text["files"]) {
    loss += file["loss"].get<double>() * file["tokens"].get<double>();
    tokens += file["tokens"].get<double>();
  }
  EXPECT_EQ(text["all"]["tokens"].get<double>(), tokens);
  EXPECT_NEAR(text["all"]["loss"].get<double>(), loss / tokens, 1e-9);
  EXPECT_EQ(lines_of("items.jsonl").size(), 2u);
}

TEST_F(EvalCommand, TheNumberOfThreadsChangesNoItem) {
  for (const char* threads : {"1", "2"})
    ASSERT_EQ(ingot({"eval", model(), "--tasks", path("core"), "--threads", threads, "--out",
                     path(std::string("items") + threads)})
                  .code,
              0);
  EXPECT_EQ(lines_of("items1"), lines_of("items2"));
}

TEST_F(EvalCommand, TheTimelineShowsEveryCheckpointOfARun) {
  const Args every = {"checkpoint.every=2", "checkpoint.keep=9"};
  ASSERT_EQ(ingot(train_args("run", every)).code, 0);
  const Outcome outcome =
      ingot({"eval", "--timeline", path("run"), "--text", path("docs"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json rows = last_line(outcome)["checkpoints"];
  ASSERT_EQ(rows.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i]["step"], 2 * (i + 1));
    EXPECT_TRUE(rows[i]["text"]["all"]["bits_per_byte"].is_number());
    EXPECT_FALSE(rows[i]["answers"].empty());
  }
  expect_refused({"eval", "--timeline", path("docs")}, path("docs"));
}

TEST_F(EvalCommand, AWatchedRunIsScoredOnceByCheckpointAndHoldsNothingInTheEnd) {
  const Args every = {"checkpoint.every=2", "checkpoint.keep=9"};
  ASSERT_EQ(ingot(train_args("run", every)).code, 0);
  const Args watch = {"eval", "--watch", path("run"), "--text", path("docs")};
  ASSERT_EQ(ingot(watch).code, 0);
  const std::vector<Json> scored = lines_of("run/evals.jsonl");
  ASSERT_EQ(scored.size(), 3u);
  EXPECT_EQ(scored[2]["step"], 6);
  ASSERT_EQ(ingot(watch).code, 0);
  EXPECT_EQ(lines_of("run/evals.jsonl"), scored);
  for (const auto& entry : fs::directory_iterator(root_ / "run"))
    EXPECT_NE(entry.path().extension(), ".hold") << entry.path();
}

TEST_F(EvalCommand, TheFirstDocumentsOfTextAreAllThatIsScored) {
  const Outcome outcome =
      ingot({"eval", model(), "--text", path("docs"), "--max-items", "1", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(last_line(outcome)["text"]["all"]["documents"], 1);
  EXPECT_NE(outcome.out.find("1 documents at most"), std::string::npos) << outcome.out;
}

TEST_F(EvalCommand, EightBitWeightsLosePerplexityBelowHalfAPercent) {
  ASSERT_EQ(ingot(train_args("run", {"train.steps=60", "optim.lr=0.01"})).code, 0);
  double perplexity[2] = {};
  for (const bool is_packed : {false, true}) {
    const Outcome outcome = ingot({"eval", path("run"), "--text", path("text.txt"), "--window",
                                   "64", "--weights", is_packed ? "q8_0" : "f32", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    perplexity[is_packed] = last_line(outcome)["text"]["all"]["perplexity"].get<double>();
  }
  EXPECT_LT(perplexity[0], 64);  // it has learned something
  EXPECT_NE(perplexity[0], perplexity[1]);
  EXPECT_NEAR(perplexity[1] / perplexity[0], 1.0, 0.005);
}

TEST_F(EvalCommand, ABaseModelIsAskedAsChatMlWhichIsSaid) {
  write("task.yaml",
        "task: colours\ndataset_path: json\ntest_split: test\noutput_type: multiple_choice\n"
        "dataset_kwargs: {data_files: {test: " +
            path("test.jsonl") +
            "}}\ndoc_to_text: q\ndoc_to_target: gold\ndoc_to_choice: choices\n");
  write("test.jsonl", "{\"q\": \"sky\", \"choices\": [\"blue\", \"red\"], \"gold\": 0}\n");
  ASSERT_EQ(ingot(train_args("run")).code, 0);
  const Args chat = {"--tasks", path("task.yaml"), "--chat", "--json"};
  const Outcome base = ingot(with({"eval", path("run")}, chat));
  ASSERT_EQ(base.code, 0) << base.err;
  EXPECT_NE(base.err.find("base model"), std::string::npos) << base.err;
  const Outcome talks = ingot(with({"eval", model()}, chat));
  ASSERT_EQ(talks.code, 0) << talks.err;
  EXPECT_EQ(talks.err.find("base model"), std::string::npos) << talks.err;
}

TEST_F(EvalCommand, WhatCannotBeEvaluatedIsSaid) {
  expect_refused({"eval", model(), "--prompts", "--max-items", "1"}, "--max-items");
  expect_refused({"eval", model()}, "nothing to evaluate");
  expect_refused({"eval", path("docs"), "--text", path("docs")}, path("docs"));
  expect_refused({"eval", model(), "--tasks", path("docs")}, "no tasks");
  expect_refused({"eval", model(), "--tasks", path("core"), "--chat"}, "--chat");
  expect_refused({"eval", model(), "--text", path("docs"), "--window", "65"}, "--window");
  expect_refused({"eval", model(), "--text", path("docs"), "--window", "8", "--stride", "8"},
                 "--stride");
  write("core/copa.jsonl", "{\"query\": \"it rained\", \"gold\": 0}\n");
  expect_refused({"eval", model(), "--tasks", path("core")}, "copa.jsonl, line 1: \"choices\"");
}

}  // namespace
}  // namespace ingot::test
