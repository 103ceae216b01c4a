// Tasks that are scored between the steps of a run.
#include <gtest/gtest.h>

#include "core/error/error.h"
#include "eval/engine_scorer.h"
#include "infer/model.h"
#include "plan/train_table.h"
#include "support/train_fixture.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

class TaskScores : public test::TrainFixture {
 protected:
  struct Records : Sink {
    std::vector<ScoreReport> scores;
    std::map<int64_t, double> losses;
    std::atomic<bool> stop{false};
    int64_t stop_after = 0, predicted_bytes = 0, bytes = 0;
    void begin(const RunFacts& facts) override {
      predicted_bytes = facts.predicted_bytes;
      bytes = facts.start.bytes;
    }
    void take(const RunRecord& record) override {
      if (const auto* score = std::get_if<ScoreReport>(&record)) scores.push_back(*score);
      if (const auto* step = std::get_if<StepReport>(&record)) {
        losses[step->step] = step->loss;
        stop = step->step == stop_after;
      }
    }
  };

  void SetUp() override {
    TrainFixture::SetUp();
    fs::create_directories(root_ / "tasks");
    write("test.jsonl",
          "{\"q\": \"line 3\", \"choices\": [\"follows line 2\", \"is red\"], \"gold\": 0}\n"
          "{\"q\": \"line 4\", \"choices\": [\"ends\", \"follows line 3\"], \"gold\": 1}\n"
          "{\"q\": \"line 5 follows\", \"choices\": [\"line 4\", \"on\"], \"gold\": 0}\n");
    for (const std::string kind : {"multiple_choice", "loglikelihood", "generate_until"})
      write("tasks/" + kind + ".yaml",
            "task: " + kind + "\noutput_type: " + kind +
                "\ndataset_path: json\ntest_split: test\n"
                "dataset_kwargs: {data_files: {test: " +
                (root_ / "test.jsonl").string() +
                "}}\n"
                "doc_to_text: q\ngeneration_kwargs: {until: [\"\\n\"], max_gen_toks: 8}\n" +
                (kind == "multiple_choice" ? "doc_to_target: gold\ndoc_to_choice: choices\n"
                                           : "doc_to_target: \"{{choices[gold]}}\"\n"));
  }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(root_ / name) << text;
  }

  // Steps of 128 tokens, scored after every second one.
  RunConfig scored(const std::string& name, const std::string& ranks, const std::string& layout,
                   Overrides more = {}) const {
    more.push_back({"train.eval_tasks", (root_ / "tasks").string()});
    more.push_back({"train.eval_tasks_every", "256"});
    return on_ranks(name, ranks, layout, std::move(more));
  }
  RunConfig on_ranks(const std::string& name, const std::string& ranks, const std::string& layout,
                     Overrides more = {}) const {
    more.push_back({"system.ranks", ranks});
    more.push_back({"system.data_parallel", layout});
    more.push_back({"checkpoint.every", "2"});
    more.push_back({"checkpoint.keep", "9"});
    return config(name, 5, std::move(more));
  }
  static void go(const RunConfig& run, Records& records, bool resume = false) {
    TrainOptions options;
    options.sinks = {&records};
    options.stop = &records.stop;
    options.resume = resume;
    test::train_locally(run, options);
  }
};

TEST_F(TaskScores, ChangeNoBitOfTheLosses) {
  for (const std::string layout : {"replicated", "fully_sharded"})
    for (const std::string ranks : {"1", "2"}) {
      Records with, without;
      go(scored("with" + ranks + layout, ranks, layout), with);
      go(on_ranks("without" + ranks + layout, ranks, layout), without);
      EXPECT_EQ(with.losses, without.losses) << ranks << " ranks, " << layout;
      EXPECT_TRUE(without.scores.empty());
      ASSERT_EQ(with.scores.size(), 3 * 5u) << ranks << " ranks, " << layout;
      for (const size_t at : {0, 5, 10})
        EXPECT_EQ(with.scores[at].step, std::min<int64_t>(at / 5 * 2 + 2, 5));
    }
}

TEST_F(TaskScores, AreThoseOfTheCheckpointOfTheSameStep) {
  for (const std::string ranks : {"1", "2"}) {
    Records records;
    const std::string name = "run" + ranks;
    go(scored(name, ranks, "fully_sharded"), records);
    ThreadPool pool(2);
    Context ctx;
    ctx.pool = &pool;
    LoadedModel model(ctx, posix_storage(), (root_ / name / "step_00000004").string(), {});
    EngineScorer scorer(model);
    const std::vector<TaskScore> scores =
        score_tasks(read_task_list(*posix_storage(), {(root_ / "tasks").string()}), 0,
                    document_ids(model.tokenizer()),
                    {.ids = {model.tokenizer(), model.first_id()},
                     .empty_id = document_ids(model.tokenizer()).first_id,
                     .max_tokens = model.config().context},
                    scorer);
    ASSERT_EQ(scores.size(), 5u);
    for (size_t i = 0; i < 5; ++i) {
      const ScoreReport& report = records.scores.at(5 + i);
      EXPECT_EQ(report.step, 4);
      EXPECT_EQ(report.task, scores[i].task);
      EXPECT_EQ(report.metric, scores[i].metric);
      EXPECT_EQ(report.value, scores[i].score.value) << report.task << " " << report.metric;
      EXPECT_EQ(report.error.value_or(0), scores[i].score.standard_error);
      EXPECT_EQ(report.items, 3);
    }
  }
}

TEST_F(TaskScores, TakeTheMemoryThatThePlanSays) {
  for (const std::string layout : {"replicated", "fully_sharded"}) {
    Records records;
    const RunConfig run = scored("run" + layout, "2", layout);
    go(run, records);
    EXPECT_EQ(records.bytes, records.predicted_bytes);
    EXPECT_EQ(records.bytes, plan_memory(train_table(resolve_here(run))).total_bytes);
    EXPECT_GT(records.bytes,
              plan_memory(train_table(resolve_here(on_ranks("other", "2", layout)))).total_bytes);
  }
}

TEST_F(TaskScores, PromptsBeyondTheContextAreCounted) {
  const std::string q(1000, 'q');  // tokens
  // The second document: of two ranks, not the one that records.
  write("test.jsonl",
        "{\"q\": \"line 4\", \"choices\": [\"a\", \"bb\"], \"gold\": 1}\n"
        "{\"q\": \"" +
            q + "\", \"choices\": [\"a\", \"bb\"], \"gold\": 0}\n");
  for (const std::string ranks : {"1", "2"}) {
    Records records;
    go(scored("run" + ranks, ranks, "replicated"), records);
    ASSERT_EQ(records.scores.size(), 15u);
    for (const ScoreReport& score : records.scores)
      EXPECT_EQ(score.cut_prompts, score.task == "multiple_choice" ? 2 : 1) << score.task;
  }
  write("test.jsonl", "{\"q\": \"line 4\", \"choices\": [\"a\", \"bb\"], \"gold\": 1}\n");
  Records records;
  go(scored("short", "1", "replicated"), records);
  for (const ScoreReport& score : records.scores) EXPECT_EQ(score.cut_prompts, std::nullopt);
}

// Where activations are larger, what scores lies among them.
TEST_F(TaskScores, ShareTheMemoryOfActivations) {
  const Overrides large = {{"batch.micro_batch", "64"}, {"batch.seq", "256"},
                           {"batch.tokens", "16384"},   {"train.recompute", "none"},
                           {"model.layers", "8"},       {"model.context", "256"}};
  const auto bytes = [&](const RunConfig& run) {
    return plan_memory(train_table(resolve_here(run))).total_bytes;
  };
  EXPECT_EQ(bytes(scored("with", "1", "replicated", large)),
            bytes(on_ranks("without", "1", "replicated", large)));
}

TEST_F(TaskScores, MistakesInTasksAreSaidBeforeTheRunBegins) {
  const auto refusal = [&](const RunConfig& run) -> std::string {
    try {
      Records records;
      go(run, records);
    } catch (const Error& error) {
      EXPECT_FALSE(fs::exists(root_ / "run" / "ledger.jsonl"));
      return error.what();
    }
    return "";
  };
  const RunConfig run = scored("run", "1", "replicated");
  write("test.jsonl", "{\"q\": \"line 3\"}\n");
  EXPECT_NE(refusal(run).find("document 0"), std::string::npos) << refusal(run);
  RunConfig missing = run;
  missing.train.eval_tasks = (root_ / "nothing").string();
  EXPECT_NE(refusal(missing).find("nothing: no such file or folder"), std::string::npos);
}

TEST_F(TaskScores, AStopLeavesThemToTheResume) {
  Records records;
  records.stop_after = 4;
  const RunConfig run = scored("run", "2", "replicated");
  go(run, records);
  ASSERT_EQ(records.scores.size(), 5u);  // of step 2
  records.stop = false, records.stop_after = 0;
  go(run, records, /*resume=*/true);
  ASSERT_EQ(records.scores.size(), 15u);
  EXPECT_EQ(records.scores[5].step, 4);
  EXPECT_EQ(records.scores[10].step, 5);
}

}  // namespace
}  // namespace ingot
