#include "spec/run/run_length.h"

#include <gtest/gtest.h>

#include "spec/error_text.h"
#include "spec/run/step_walk.h"

namespace ingot {
namespace {

// 4,096 tokens a step, unless told otherwise.
RunConfig with(const Overrides& overrides) {
  return parse_run_config("", "", overrides);
}

TEST(RunLength, StepsAndTokensSayTheSameEnd) {
  const Horizon by_steps = horizon_of(with({{"train.steps", "10"}}));
  EXPECT_EQ(by_steps.steps, 10);
  EXPECT_EQ(by_steps.tokens, 40960);
  const Horizon by_tokens = horizon_of(with({{"train.total_tokens", "40000"}}));
  EXPECT_EQ(by_tokens.steps, 10);
  EXPECT_EQ(by_tokens.tokens, 40960);
  EXPECT_EQ(horizon_of(with({})).steps, 0);
}

TEST(RunLength, OfARampIsWhatItsStepsSumUpTo) {
  const RunConfig ramped = with({{"batch.tokens", "32768"},
                                 {"batch.ramp_start_tokens", "4096"},
                                 {"batch.ramp_tokens", "5M"},
                                 {"train.total_tokens", "6M"}});
  Progress walked;
  for (; walked.tokens < 6'000'000; ++walked.step)
    walked.tokens += batch_tokens(ramped.batch, walked);
  EXPECT_EQ(horizon_of(ramped).steps, walked.step);
  EXPECT_EQ(horizon_of(ramped).tokens, walked.tokens);
}

TEST(RunLength, OfALongRampIsKnownAtOnce) {
  const RunConfig ramped = with({{"batch.tokens", "40960000"},
                                 {"batch.ramp_start_tokens", "4096"},
                                 {"batch.ramp_tokens", "1e15"},
                                 {"train.steps", "1e10"}});
  EXPECT_GE(horizon_of(ramped).tokens, int64_t{4096} * 10'000'000'000);
}

TEST(RunLength, AnyNumberOfStepsIsCountedAtOnceOrRefused) {
  EXPECT_EQ(horizon_of(with({{"train.steps", "1T"}})).tokens, 4096 * int64_t{1'000'000'000'000});
  const RunConfig endless = with({{"train.steps", "1T"}, {"batch.tokens", "819200000"}});
  EXPECT_NE(error_text([&] { horizon_of(endless); }).find("lower train.steps"), std::string::npos);
}

TEST(RunLength, FractionsAreOfWhatTheRunIsSaidToBe) {
  const auto lengths = [](Overrides more) {
    more.insert(more.end(), {{"optim.schedule.kind", "wsd"},
                             {"optim.schedule.warmup_fraction", "0.05"},
                             {"optim.schedule.decay_fraction", "0.2"}});
    const ScheduleConfig schedule = resolved_schedule(with(more));
    EXPECT_EQ(schedule.warmup_fraction, 0.0);
    EXPECT_EQ(schedule.decay_fraction, 0.0);
    return std::pair(schedule.warmup, schedule.decay);
  };
  EXPECT_EQ(lengths({{"train.total_tokens", "20M"}}),
            std::pair(int64_t{1'000'000}, int64_t{4'000'000}));
  EXPECT_EQ(lengths({{"train.steps", "100"}, {"optim.schedule.unit", "steps"}}),
            std::pair(int64_t{5}, int64_t{20}));
  EXPECT_EQ(lengths({{"train.steps", "100"}}), std::pair(int64_t{20480}, int64_t{81920}));
}

}  // namespace
}  // namespace ingot
