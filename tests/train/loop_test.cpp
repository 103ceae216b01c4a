// What the loop does with verdicts, records and sections of state.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "ledger/records/run_ledger.h"
#include "spec/model/flops.h"
#include "support/ledger_contents.h"
#include "support/train_fixture.h"
#include "train/step/rate_factor.h"

namespace ingot {
namespace {

using test::Recorder;

// Says `verdict` after step `at`, the first time that it comes by.
class OnceAt final : public Policy {
 public:
  OnceAt(int64_t at, StepVerdict verdict) : at_(at), verdict_(verdict) {}
  StepVerdict judge(const StepFacts& facts) override {
    if (facts.step != at_ || said_) return StepVerdict::Go;
    said_ = true;
    return verdict_;
  }

 private:
  const int64_t at_;
  const StepVerdict verdict_;
  bool said_ = false;
};

struct Records : Sink {
  std::vector<RunRecord> all;
  void take(const RunRecord& record) override { all.push_back(record); }

  template <class T>
  std::vector<T> of() const {
    std::vector<T> found;
    for (const RunRecord& record : all)
      if (const T* one = std::get_if<T>(&record)) found.push_back(*one);
    return found;
  }
};

class Loops : public test::TrainFixture {
 protected:
  // A run with a constant rate, so that steps differ by what policies did alone.
  RunConfig constant(const std::string& name, int64_t steps, Overrides more = {}) const {
    more.push_back({"optim.schedule.kind", "constant"});
    more.push_back({"optim.schedule.warmup", "0"});
    return config(name, steps, std::move(more));
  }
  TrainResult go(const RunConfig& run, Records& records, int64_t at = 0,
                 StepVerdict verdict = StepVerdict::Go, bool resume = false) const {
    TrainOptions options;
    options.sinks = {&records};
    options.resume = resume;
    options.policies = [=] {
      std::vector<std::unique_ptr<Policy>> policies;
      policies.push_back(std::make_unique<OnceAt>(at, verdict));
      return policies;
    };
    return test::train_locally(run, options);
  }
  std::vector<nlohmann::json> ledger(const std::string& name) const {
    return test::read_ledger(*posix_storage(), (root_ / name / kRunLedgerName).string()).records;
  }
};

TEST_F(Loops, RecordsComeInTheOrderOfWhatHappens) {
  Records records;
  go(constant("run", 3, {{"train.eval_every", "2"}, {"checkpoint.every", "2"}}), records);
  std::string order;
  for (const RunRecord& record : records.all) order += "FSECXL"[record.index()];
  EXPECT_EQ(order, "FSSECSECX");
  EXPECT_EQ(ledger("run").size(), records.all.size());
}

TEST_F(Loops, AStepTellsItsFlopsTheirShareOfThePeaksAndWhatItWaitedFor) {
  PeakFlops peak;
  peak.datasheet = 4e12, peak.measured = 1e12;
  for (const char* ranks : {"1", "2"})
    for (const bool known : {true, false}) {
      Records records;
      TrainOptions options;
      options.sinks = {&records};
      peak.busy = ranks == std::string("2") ? 0.1 : 0.01;
      if (known) options.peak = &peak;
      const std::string name = fmt::format("run{}{}", ranks, known);
      const RunConfig run = constant(name, 2, {{"system.ranks", ranks}});
      test::train_locally(run, options);
      const double flops = 128 * train_flops_per_token(run.model, 16, AttentionFlops::Causal);
      ASSERT_EQ(records.of<StepReport>().size(), 2u);
      for (const StepReport& report : records.of<StepReport>()) {
        EXPECT_EQ(report.flops, flops);
        EXPECT_EQ(report.tokens_per_second, 128 / report.seconds);
        EXPECT_EQ(report.mfu.has_value(), known);
        EXPECT_EQ(report.mfu_measured.has_value(), known);
        EXPECT_EQ(report.mfu_doubtful.value_or(false), known && ranks == std::string("2"));
        if (known) {
          EXPECT_NEAR(*report.mfu * 4e12 * report.seconds, flops, 1e-6 * flops);
          EXPECT_NEAR(*report.mfu_measured, 4 * *report.mfu, 1e-9);
        }
        ASSERT_TRUE(report.data_wait && report.comm_wait);
        EXPECT_GE(*report.data_wait, 0.0);
        EXPECT_EQ(*report.comm_wait > 0.0, ranks == std::string("2"));
      }
    }
}

TEST_F(Loops, ALoweredRateIsHalfOfThePlannedFromTheNextStepOn) {
  for (const char* ranks : {"1", "2"}) {
    Records records;
    go(constant(std::string("run") + ranks, 4, {{"system.ranks", ranks}}), records, 2,
       StepVerdict::LowerRate);
    std::vector<double> rates;
    for (const StepReport& report : records.of<StepReport>()) rates.push_back(report.lr);
    EXPECT_EQ(rates, (std::vector<double>{3e-3, 3e-3, 1.5e-3, 1.5e-3}));
    EXPECT_EQ(records.of<StepReport>()[1].verdict, "lower_rate");
  }
}

TEST_F(Loops, ALoweredRateGoesOnInAResumedRun) {
  Records undisturbed;
  const TrainResult whole = go(constant("whole", 5), undisturbed, 2, StepVerdict::LowerRate);
  Records records;
  go(constant("cut", 3), records, 2, StepVerdict::LowerRate);
  const TrainResult resumed = go(constant("cut", 5), records, 0, StepVerdict::Go, /*resume=*/true);
  EXPECT_EQ(records.of<StepReport>().back().lr, 1.5e-3);
  EXPECT_EQ(resumed.train_loss, whole.train_loss);
}

TEST_F(Loops, ARunRolledBackEndsAsIfNothingHadHappened) {
  for (const char* ranks : {"1", "2"}) {
    const auto name = [&](const char* of) { return std::string(of) + ranks; };
    const Overrides more = {{"checkpoint.every", "2"}, {"system.ranks", ranks}};
    Records undisturbed, records;
    const TrainResult whole = go(constant(name("whole"), 6, more), undisturbed);
    const TrainResult rolled =
        go(constant(name("rolled"), 6, more), records, 5, StepVerdict::RollBack);
    EXPECT_EQ(rolled.train_loss, whole.train_loss);
    EXPECT_EQ(rolled.counts, whole.counts);
    EXPECT_EQ(rolled.state.samples, whole.state.samples);

    std::vector<int64_t> steps;
    for (const StepReport& report : records.of<StepReport>()) steps.push_back(report.step);
    EXPECT_EQ(steps, (std::vector<int64_t>{1, 2, 3, 4, 5, 5, 6}));
    // The ledger says that the fifth step was given up.
    std::vector<int64_t> starts;
    std::vector<std::string> verdicts;
    for (const nlohmann::json& record : ledger(name("rolled"))) {
      if (record["kind"] == "start") starts.push_back(record["step"]);
      if (record.contains("verdict")) verdicts.push_back(record["verdict"]);
    }
    EXPECT_EQ(starts, (std::vector<int64_t>{0, 4}));
    EXPECT_EQ(verdicts, (std::vector<std::string>{"roll_back"}));
  }
}

TEST_F(Loops, ARunWithoutACheckpointCannotRollBack) {
  Records records;
  try {
    go(constant("run", 4), records, 2, StepVerdict::RollBack);
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Numeric);
    EXPECT_NE(std::string(error.what()).find("checkpoint.every"), std::string::npos);
  }
}

TEST_F(Loops, AVerdictToStopSavesAndEnds) {
  Records records;
  const TrainResult result = go(constant("run", 6), records, 3, StepVerdict::Stop);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.state.step, 3);
  ASSERT_EQ(records.of<SavedReport>().size(), 1u);
  EXPECT_EQ(records.of<SavedReport>()[0].dir, result.checkpoint);
  EXPECT_TRUE(records.of<EndReport>().empty());
}

TEST_F(Loops, AResumeBeginsWithTheValidationThatAStopPrevented) {
  for (const char* ranks : {"1", "2"}) {
    const auto run = [&](int64_t steps) {
      return constant(std::string("run") + ranks, steps,
                      {{"train.eval_every", "2"}, {"system.ranks", ranks}});
    };
    Records stopped, resumed, again;
    go(run(6), stopped, 2, StepVerdict::Stop);
    EXPECT_TRUE(stopped.of<EvalReport>().empty());
    go(run(3), resumed, 0, StepVerdict::Go, /*resume=*/true);
    std::string order;
    for (const RunRecord& record : resumed.all) order += "FSECXL"[record.index()];
    EXPECT_EQ(order, "FESECX");
    EXPECT_EQ(resumed.of<EvalReport>()[0].step, 2);
    go(run(4), again, 0, StepVerdict::Go, /*resume=*/true);  // none is missing now
    EXPECT_EQ(again.of<EvalReport>().size(), 1u);
  }
}

TEST_F(Loops, SavesByTheClockChangeNoLossAndAreKeptLikeOthers) {
  for (const char* ranks : {"1", "2"}) {
    const auto losses = [&](const std::string& name, const char* minutes) {
      Records records;
      go(constant(name + ranks, 6,
                  {{"checkpoint.minutes", minutes},
                   {"checkpoint.every", "0"},
                   {"checkpoint.keep", "1"},
                   {"system.ranks", ranks}}),
         records);
      std::vector<double> all;
      for (const StepReport& report : records.of<StepReport>()) all.push_back(report.loss);
      const std::string dir = (root_ / (name + ranks)).string();
      EXPECT_EQ(list_checkpoints(*posix_storage(), dir).size(), 1u);
      return std::pair(all, records.of<SavedReport>().size());
    };
    const auto saved = losses("saved", "1e-9"), never = losses("never", "0");
    EXPECT_EQ(saved.first, never.first);
    EXPECT_GT(saved.second, 1u);
    EXPECT_EQ(never.second, 1u);
  }
}

// Each step multiplies the weights by -99.
TEST_F(Loops, GradientsThatAreNotFiniteEndTheRunAndSaySo) {
  Records records;
  try {
    go(constant("run", 50, {{"optim.lr", "100"}, {"optim.weight_decay", "1"}}), records);
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Numeric);
    EXPECT_NE(std::string(error.what()).find("lower optim.lr"), std::string::npos);
  }
}

TEST(RateFactor, IsRestoredToTheLastBit) {
  RateFactor factor, other;
  for (int i = 0; i < 3; ++i) factor.halve();
  other.load(factor.save());
  EXPECT_EQ(other.value(), 0.125);
  EXPECT_THROW(other.load("\"half\""), Error);
  EXPECT_THROW(other.load("{"), Error);
}

}  // namespace
}  // namespace ingot
