#include <gtest/gtest.h>

#include <cmath>

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

TEST_F(Validation, ToldBySourceIsTheSameBitsOnAnyNumberOfRanksAndAddsUp) {
  std::ofstream other(root_ / "other.txt");
  for (int i = 0; i < 1500; ++i) other << "Another text, of which this is part " << i * i << ".\n";
  other.close();
  std::ofstream(root_ / "both.toml")
      << "[[source]]\npath = \"" << (root_ / "text.txt").string() << "\"\nweight = 2\n"
      << "[[source]]\npath = \"" << (root_ / "other.txt").string() << "\"\nweight = 1\n";
  std::vector<EvalReport> reports;
  for (const std::string ranks : {"1", "2"}) {
    Recorder recorder;
    RunConfig mixed = on_ranks("run" + ranks, ranks, "fully_sharded");
    mixed.data.train = (root_ / "both.toml").string();
    mixed.optim.lr = 0;  // weights stay the same whatever number of ranks adds up gradients
    reports.push_back(*run(mixed, recorder).eval);
  }
  const EvalReport& one = reports[0];
  ASSERT_EQ(one.sources.size(), 2u);
  double nats = 0, tokens = 0;
  for (size_t s = 0; s < 2; ++s) {
    const SourceLoss &source = one.sources[s], &on_two = reports[1].sources.at(s);
    EXPECT_EQ(test::fs::path(source.name).filename(), s == 0 ? "text.txt" : "other.txt");
    EXPECT_EQ(source.loss, on_two.loss);
    EXPECT_EQ(source.tokens, on_two.tokens);
    EXPECT_EQ(source.perplexity, std::exp(source.loss));
    ASSERT_TRUE(source.bits_per_byte);  // a byte is a token here
    EXPECT_NEAR(*source.bits_per_byte, source.loss / std::log(2.0), 0.05);
    nats += source.loss * static_cast<double>(source.tokens);
    tokens += static_cast<double>(source.tokens);
  }
  EXPECT_EQ(static_cast<int64_t>(tokens), one.tokens);
  EXPECT_NEAR(nats / tokens, one.loss, 1e-6);
}

}  // namespace
}  // namespace ingot
