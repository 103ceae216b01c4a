#include "spec/run/step_walk.h"

#include <gtest/gtest.h>

#include <set>

#include "spec/run/schedule.h"

namespace ingot {
namespace {

BatchConfig batch_of(int64_t tokens, int64_t start, int64_t ramp) {
  BatchConfig config;
  config.tokens = tokens;
  config.ramp_start_tokens = start;
  config.ramp_tokens = ramp;
  return config;
}

TEST(BatchTokens, WithoutARampIsTheConfiguredSize) {
  EXPECT_EQ(batch_tokens(batch_of(4096, 0, 0), {0, 0}), 4096);
  EXPECT_EQ(batch_tokens(batch_of(4096, 1024, 0), {0, 0}), 4096);
}

TEST(BatchTokens, RampsLinearlyInWholeStarts) {
  const BatchConfig config = batch_of(8192, 1024, 7168 * 10);
  EXPECT_EQ(batch_tokens(config, {0, 0}), 1024);
  EXPECT_EQ(batch_tokens(config, {0, 10239}), 1024);
  EXPECT_EQ(batch_tokens(config, {0, 10240}), 2048);
  EXPECT_EQ(batch_tokens(config, {0, 7168 * 10 - 1}), 7168);
  EXPECT_EQ(batch_tokens(config, {0, 7168 * 10}), 8192);
  EXPECT_EQ(batch_tokens(config, {0, 1 << 30}), 8192);
}

TEST(BatchTokens, EndsAtASizeThatIsNoMultipleOfTheStart) {
  const BatchConfig config = batch_of(8192, 3072, 1000);
  EXPECT_EQ(batch_tokens(config, {0, 999}), 6144);
  EXPECT_EQ(batch_tokens(config, {0, 1000}), 8192);
}

TEST(BatchTokens, StaysExactInTheLargestRuns) {
  const int64_t ramp = 3'000'000'000'000'000;
  EXPECT_EQ(batch_tokens(batch_of(90'000'000, 30'000'000, ramp), {0, ramp / 2}), 60'000'000);
  EXPECT_EQ(batch_tokens(batch_of(90'000'000, 30'000'000, ramp), {0, ramp / 2 - 1}), 30'000'000);
}

// 4,096 tokens a step at first, eight times that in the end.
RunConfig ramped(const Overrides& more = {}) {
  Overrides all = {{"batch.tokens", "32768"},
                   {"batch.ramp_start_tokens", "4096"},
                   {"batch.ramp_tokens", "5M"},
                   {"train.total_tokens", "6M"}};
  all.insert(all.end(), more.begin(), more.end());
  return parse_run_config("", "", all);
}

TEST(StepWalk, StepsFollowOneAnotherToTheHorizon) {
  const RunConfig config = ramped({{"system.ranks", "2"}, {"batch.micro_batch", "4"}});
  const StepRules rules = step_rules(config);
  int64_t step = 0, tokens = 0, samples = 0;
  StepWalk walk(rules);
  for (; !walk.at_end(); walk.advance()) {
    const StepPlan plan = walk.next();
    EXPECT_EQ(plan.step, step + 1);
    EXPECT_EQ(plan.tokens, batch_tokens(rules.batch, {step, tokens}));
    EXPECT_EQ(plan.lr, learning_rate(rules.optim, {step, tokens}, rules.horizon));
    EXPECT_EQ(plan.first_sample, samples);
    EXPECT_EQ(plan.num_micro_steps * plan.micro_batch * plan.ranks,
              plan.end_sample - plan.first_sample);
    ++step, tokens += plan.tokens, samples = plan.end_sample;
  }
  EXPECT_EQ(step, rules.horizon.steps);
  EXPECT_EQ(tokens, rules.horizon.tokens);
  EXPECT_EQ(samples * config.batch.seq, tokens);
}

TEST(StepWalk, ManyStepsAtOnceLeadWhereOneByOneDo) {
  const StepRules rules = step_rules(ramped());
  StepWalk walk(rules);
  for (int64_t steps = 1; !walk.at_end(); ++steps) {
    walk.advance();
    StepWalk leap(rules);
    leap.advance(steps);
    EXPECT_EQ(leap.at().step, walk.at().step);
    EXPECT_EQ(leap.at().tokens, walk.at().tokens) << steps;
    EXPECT_EQ(leap.samples(), walk.samples()) << steps;
  }
}

TEST(RankWalk, RanksTogetherTakeEverySampleOfAStepOnce) {
  StepRules rules;
  rules.batch.micro_batch = 2;
  rules.batch.seq = 4;
  rules.batch.tokens = 2 * 4 * 3 * 5;
  rules.batch.ramp_start_tokens = 24;
  rules.batch.ramp_tokens = 600;
  rules.horizon = {20, 2000};
  rules.ranks = 3;
  std::multiset<int64_t> taken;
  for (int rank = 0; rank < 3; ++rank) {
    RankWalk walk(StepWalk(rules, {}, 100), rank);
    int64_t before = 0;
    while (const auto position = walk.next()) {
      EXPECT_GT(*position, before);
      before = *position;
      for (int64_t i = 0; i < rules.batch.micro_batch; ++i) taken.insert(*position + i);
    }
  }
  int64_t expected = 100;
  for (const int64_t position : taken) EXPECT_EQ(position, expected++);
  EXPECT_GT(taken.size(), 20u);
}

}  // namespace
}  // namespace ingot
