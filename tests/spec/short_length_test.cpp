#include "spec/run/short_length.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

// 4,096 tokens a step, ten steps.
std::string short_in(Overrides more) {
  more.insert(more.begin(), {"train.steps", "10"});
  return lengths_below_a_step(parse_run_config("", "", more));
}

TEST(ShortLength, AWarmupWithinTheFirstStepIsToldInSteps) {
  EXPECT_EQ(short_in({{"optim.schedule.warmup", "10"}}),
            "optim.schedule.warmup: expected at least a step, which is 4096 tokens, got 10, which "
            "are 0.0024 steps: for 10 steps --set optim.schedule.warmup=40960; or count warm-up "
            "and decay in steps, --set optim.schedule.unit=steps");
  EXPECT_EQ(short_in({{"optim.schedule.warmup", "4096"}}), "");
  EXPECT_EQ(short_in({{"optim.schedule.warmup", "1"}, {"optim.schedule.unit", "steps"}}), "");
  EXPECT_EQ(short_in({{"optim.schedule.warmup_fraction", "0.0001"}}), "");
}

TEST(ShortLength, ADecayThatNoStepSeesIsTold) {
  const auto decay = [](const std::string& length, const std::string& unit) {
    return short_in({{"optim.schedule.kind", "wsd"},
                     {"optim.schedule.decay", length},
                     {"optim.schedule.unit", unit}});
  };
  EXPECT_NE(decay("3", "tokens").find("for 3 steps --set optim.schedule.decay=12288"),
            std::string::npos);
  EXPECT_NE(decay("4096", "tokens").find("--set optim.schedule.decay=8192"), std::string::npos);
  EXPECT_NE(decay("1", "steps").find("--set optim.schedule.decay=2"), std::string::npos);
  EXPECT_EQ(decay("4097", "tokens"), "");
  EXPECT_EQ(decay("2", "steps"), "");
}

TEST(ShortLength, SoAreARampAndAWholeRun) {
  const auto text = [](const Overrides& sets) {
    return lengths_below_a_step(parse_run_config("", "", sets));
  };
  const std::string run = text({{"train.total_tokens", "7"}});
  EXPECT_NE(run.find("for 7 steps --set train.steps=7"), std::string::npos) << run;
  const std::string ramp = text({{"train.steps", "9"},
                                 {"batch.tokens", "32768"},
                                 {"batch.ramp_start_tokens", "4096"},
                                 {"batch.ramp_tokens", "3"}});
  EXPECT_NE(ramp.find("for 3 steps --set batch.ramp_tokens=12288"), std::string::npos) << ramp;
  // The first step is a ramp's smallest, the last one has all tokens.
  EXPECT_EQ(text({{"train.steps", "100"},
                  {"batch.tokens", "32768"},
                  {"batch.ramp_start_tokens", "4096"},
                  {"batch.ramp_tokens", "100000"},
                  {"optim.schedule.warmup", "4096"}}),
            "");
}

TEST(ShortLength, OneTooLongToCountInTokensIsToldAllTheSame) {
  EXPECT_NE(short_in({{"batch.tokens", "999999995904"}, {"optim.schedule.warmup", "9e11"}})
                .find("for 900000000000 steps"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
