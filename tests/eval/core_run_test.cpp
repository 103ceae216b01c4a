#include "eval/core/core_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error/error.h"

namespace ingot {
namespace {

const CoreTask& task_of(std::string_view label) {
  for (const CoreTask& task : core_tasks())
    if (task.label == label) return task;
  throw std::runtime_error("no such task");
}

// A model that knows bytes: the loss of a token is its byte's place in the alphabet, and it would
// write nothing but x.
class Alphabet final : public Scorer {
 public:
  void score(std::span<const ScoreItem> items, const OnItem& on_item) override {
    for (size_t i = items.size(); i-- > 0;) {  // in any order
      Scores scores;
      for (const auto& [ids, first_scored] : items[i].sequences) {
        scores.emplace_back();
        for (size_t t = first_scored; t < ids.size(); ++t)
          scores.back().push_back(
              {.logprob = 'a' - static_cast<double>(ids[t]), .is_likeliest = ids[t] == 'x'});
      }
      on_item(i, scores);
    }
  }
  std::vector<int32_t> continue_greedily(std::span<const int32_t>, int64_t,
                                         const IsDone&) override {
    return {};
  }
  int64_t max_tokens() const override { return std::numeric_limits<int64_t>::max(); }
};

class CoreRun : public ::testing::Test {
 protected:
  CoreTaskResult run(std::string_view label, std::vector<CoreExample> examples) {
    CoreTask task = task_of(label);
    task.shots = 0;
    tasks_.push_back(task);
    for (size_t i = 0; i < examples.size(); ++i) examples[i].line = i;
    return run_core_task(tasks_.back(), std::move(examples), 0, {*tokenizer_, tokenizer_->bos()},
                         scorer_,
                         [&](const CoreItemResult&, size_t done, size_t) { done_ = done; });
  }
  std::unique_ptr<Tokenizer> tokenizer_ = byte_tokenizer();
  Alphabet scorer_;
  std::vector<CoreTask> tasks_ = [] {
    std::vector<CoreTask> tasks;
    tasks.reserve(8);  // results point into it
    return tasks;
  }();
  size_t done_ = 0;
};

TEST_F(CoreRun, TheLeastMeanLossWinsAndTheFirstOfEqualOnes) {
  const CoreTaskResult result =
      run("copa", {{.text = "q", .options = {"ccc", "b"}, .gold = 1},   // mean, not sum
                   {.text = "q", .options = {"b", "bbbb"}, .gold = 1},  // one begins the other
                   {.text = "q", .options = {"zb", "za", "zab"}, .gold = 1},
                   {.text = "q", .options = {"xd", "yd"}, .gold = 0},
                   {.text = "q", .options = {"same", "same"}, .gold = 1}});
  std::vector<size_t> chosen(5);
  for (const CoreItemResult& item : result.items) chosen[item.line] = item.chosen;
  // «b» has nothing left behind what it shares with «bbbb», and is never chosen.
  EXPECT_EQ(chosen, (std::vector<size_t>{1, 1, 1, 0, 0}));
  EXPECT_EQ(result.empty_ranges, 2);
  EXPECT_NEAR(result.accuracy().value, 0.8, 1e-12);
  EXPECT_NEAR(result.accuracy().standard_error, std::sqrt(0.8 * 0.2 / 4), 1e-12);
  EXPECT_EQ(done_, 5u);
}

TEST_F(CoreRun, ASchemaScoresWhatItsPromptsEndWith) {
  // Were the contexts scored, the first would win.
  const CoreTaskResult result =
      run("winograd", {{.text = "ran", .options = {"aa", "zz"}, .gold = 0}});
  EXPECT_EQ(result.items.front().losses[0], result.items.front().losses[1]);
  EXPECT_TRUE(result.items.front().is_correct);
}

TEST_F(CoreRun, AContinuationIsRightOnlyAsAWhole) {
  const CoreTaskResult result = run("squad", {{.text = "q:", .continuation = "x"},
                                              {.text = "q:", .continuation = "xx"},
                                              {.text = "q:", .continuation = "xy"},
                                              {.text = "q:", .continuation = ""}});
  for (const CoreItemResult& item : result.items) EXPECT_FALSE(item.is_correct) << item.line;
  // The delimiter's space is of the continuation: stripped off the prompt, it has to be written
  // too.
  EXPECT_EQ(result.broken_prefixes, 0);
}

TEST_F(CoreRun, APartOfTheTasksIsNotCore) {
  std::vector<CoreTaskResult> results = {
      run("copa", {{.text = "q", .options = {"a", "b"}, .gold = 0}}),
      run("boolq", {{.text = "q", .options = {"a", "b"}, .gold = 0},
                    {.text = "q", .options = {"a", "b"}, .gold = 1}})};
  const CoreScore score = core_score(results, CoreVersion::V1);
  EXPECT_EQ(score.text(), "n/a (2 of 22 tasks)");
  EXPECT_NEAR(score.mean, (1.0 + (0.5 - 0.62) / 0.38) / 2, 1e-12);
  EXPECT_LT(score.interval.low, score.mean);
  EXPECT_GT(score.interval.high, score.mean);
}

}  // namespace
}  // namespace ingot
