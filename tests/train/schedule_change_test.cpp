#include "train/start/schedule_change.h"

#include <gtest/gtest.h>

#include "spec/run/step_walk.h"

namespace ingot {
namespace {

RunConfig of(const std::string& kind, const std::string& steps, Overrides more = {}) {
  more.insert(more.end(), {{"optim.schedule.kind", kind}, {"train.steps", steps}});
  if (kind == "wsd") more.emplace_back("optim.schedule.decay_fraction", "0.2");
  return parse_run_config("", "", more);
}

bool changes(const RunConfig& saved, const RunConfig& wanted, int64_t step) {
  StepWalk walk(step_rules(saved));
  walk.advance(step);
  return schedule_change(saved, wanted, walk.at()).has_value();
}

TEST(ScheduleChange, ALongerRunChangesEveryShapeThatKnowsItsEnd) {
  for (const char* kind : {"cosine", "linear", "wsd"}) {
    EXPECT_TRUE(changes(of(kind, "100"), of(kind, "200"), 50)) << kind;
    EXPECT_TRUE(changes(of(kind, "100"), of(kind, "90"), 50)) << kind;
    EXPECT_FALSE(changes(of(kind, "100"), of(kind, "100"), 50)) << kind;
  }
  EXPECT_FALSE(changes(of("constant", "100"), of("constant", "200"), 50));
}

TEST(ScheduleChange, ARunAtItsEndWasToStayAtItsLastRate) {
  EXPECT_TRUE(changes(of("cosine", "100"), of("cosine", "200"), 100));
  EXPECT_FALSE(changes(of("constant", "100"), of("constant", "200"), 100));
  EXPECT_FALSE(changes(of("cosine", "100"), of("cosine", "100"), 100));
}

TEST(ScheduleChange, TheSameLengthInAnotherUnitIsNone) {
  const RunConfig tokens = parse_run_config("", "", {{"train.total_tokens", "409600"}});
  EXPECT_FALSE(changes(of("cosine", "100"), tokens, 3));
}

TEST(ScheduleChange, AWarmupThatIsAFractionGrowsWithTheRun) {
  const Overrides fraction = {{"optim.schedule.warmup_fraction", "0.5"}};
  EXPECT_TRUE(changes(of("constant", "100", fraction), of("constant", "200", fraction), 10));
}

TEST(ScheduleChange, NamesTheStepBothRatesAndTheSetting) {
  const auto text = schedule_change(of("linear", "10"), of("linear", "20"), {5, 5 * 4096});
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "the learning rate of step 6 was to be 0.00055 and would be 0.000775: train.steps (was "
            "10, is 20)");
}

}  // namespace
}  // namespace ingot
