#include <gtest/gtest.h>

#include "support/train_fixture.h"
#include "train/start/run_data.h"
#include "train/step/evaluate.h"

namespace ingot {
namespace {

using test::Recorder;
using test::run;

class Validation : public test::TrainFixture {
 protected:
  // 6 sequences of 16 tokens a step, which 1, 2 and 3 ranks can share; 11 are validated on.
  RunConfig on_ranks(const std::string& name, const std::string& ranks, const std::string& layout,
                     const std::string& micro_batch = "1") const {
    return config(name, 8,
                  {{"train.eval_tokens", "176"},
                   {"train.eval_every", "2"},
                   {"batch.tokens", "96"},
                   {"batch.micro_batch", micro_batch},
                   {"system.ranks", ranks},
                   {"system.data_parallel", layout}});
  }
  // Of initial weights, which are the same on any number of ranks.
  static EvalReport evaluate(const RunConfig& config) {
    const RunData data = open_run_data(*posix_storage(), config);
    const ResolvedRun resolved = resolve_here(config);
    std::vector<EvalReport> reports(static_cast<size_t>(config.system.ranks));
    run_local_ranks(static_cast<int>(config.system.ranks), Device::cpu(), [&](World& world) {
      Engine engine(resolved, world);
      engine.init(1);
      reports[static_cast<size_t>(world.rank())] =
          evaluate_loss(engine, world.control(), *data.valid, resolved).value();
    });
    for (const EvalReport& report : reports) EXPECT_EQ(report.loss, reports[0].loss);
    return reports[0];
  }
};

TEST_F(Validation, IsTheSameBitsOnAnyNumberOfRanksInBothLayouts) {
  const EvalReport one = evaluate(on_ranks("run", "1", "replicated"));
  EXPECT_EQ(one.tokens, 176);
  for (const std::string layout : {"replicated", "fully_sharded"})
    for (const std::string ranks : {"1", "2", "3"}) {
      const EvalReport many = evaluate(on_ranks("run", ranks, layout));
      EXPECT_EQ(many.loss, one.loss) << ranks << " ranks, " << layout;
      EXPECT_EQ(many.tokens, one.tokens) << ranks << " ranks, " << layout;
    }
}

TEST_F(Validation, DoesNotDependOnTheMicroBatch) {
  const EvalReport one = evaluate(on_ranks("run", "1", "replicated"));
  const EvalReport other = evaluate(on_ranks("run", "2", "fully_sharded", "3"));
  EXPECT_EQ(other.tokens, one.tokens);
  EXPECT_NEAR(other.loss / one.loss, 1.0, 1e-6);
}

TEST_F(Validation, FullyShardedRunsTrainValidateAndResume) {
  for (const std::string ranks : {"2", "3"}) {
    Recorder recorder;
    recorder.stop_after = 2;
    EXPECT_TRUE(run(on_ranks("run" + ranks, ranks, "fully_sharded"), recorder).stopped);
    recorder.stop = false, recorder.stop_after = 0;
    const auto result = run(on_ranks("run" + ranks, ranks, "fully_sharded"), recorder, true);
    EXPECT_EQ(result.state.step, 8);
    EXPECT_EQ(result.eval->tokens, 176);
  }
}

}  // namespace
}  // namespace ingot
