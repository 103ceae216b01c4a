#include "train/records/progress.h"

#include <gtest/gtest.h>

#include "feed/token_counts.h"
#include "train/start/run_data.h"

namespace ingot {
namespace {

TEST(Progress, StepLineShowsSharesOfThePeaksTokensAndTimeLeft) {
  ProgressFormat format(model_preset("llama_10m"), 512, {2e12, "data sheet", 1e12, "bf16"});
  RunFacts facts;
  facts.total_steps = 10, facts.total_tokens = 10000;
  format.start(facts);
  StepReport report;
  report.step = 5, report.tokens = 5000;
  report.loss = 2.5, report.lr = 1e-3, report.grad_norm = 0.75;
  report.tokens_per_second = 1000;
  put(TokenCounts{4900, 100, 3000}, report);
  const std::string line = format.step(report);
  EXPECT_NE(line.find("step 5/10  loss 2.5000 (ppl 12.18)  lr 1.00e-03  norm 0.750  1,000 tok/s"),
            std::string::npos)
      << line;
  // 59.8 MFLOP a token.
  EXPECT_NE(line.find("MFU 3.0 % (6.0 % of measured)"), std::string::npos) << line;
  EXPECT_NE(line.find("tokens 4.90k, 100 padded, 3.00k unique"), std::string::npos) << line;
  EXPECT_NE(line.find("ETA 5.0 s"), std::string::npos) << line;
}

TEST(Progress, AValidationIsTheLossAndThePerplexityThatItIs) {
  const ProgressFormat format(model_preset("llama_10m"), 512, {});
  EvalReport report{.step = 5, .loss = 3.0, .tokens = 100};
  EXPECT_EQ(format.eval(report), "valid    step 5  loss 3.0000 (ppl 20.09)  (100 tokens)");
  report.bits_per_byte = 1.25;
  EXPECT_EQ(format.eval(report),
            "valid    step 5  loss 3.0000 (ppl 20.09)  1.2500 bits per byte  (100 tokens)");
}

TEST(Progress, APeakThatAStepExceedsIsReplacedByAHigherOne) {
  const ModelConfig model = model_preset("llama_10m");  // 59.8 MFLOP a token
  ProgressFormat format(model, 512, {0, "", 1e10, "fp32", 0.5});
  StepReport report;
  put(TokenCounts{}, report);
  report.tokens_per_second = 100;
  EXPECT_FALSE(format.is_above_peak(report));
  report.tokens_per_second = 1000;
  EXPECT_TRUE(format.is_above_peak(report));
  EXPECT_NE(format.measured_again({0, "", 9e9, "fp32", 0.0}).find("10 GFLOP/s"), std::string::npos);
  EXPECT_TRUE(format.is_above_peak(report));
  EXPECT_NE(
      format.measured_again({0, "", 2e11, "fp32", 0.0}).find("200 GFLOP/s measured in fp32; "),
      std::string::npos);
  EXPECT_FALSE(format.is_above_peak(report));
  EXPECT_NE(format.step(report).find("MFU 29.9 % of measured  tokens"), std::string::npos)
      << format.step(report);
}

TEST(Progress, ASlowRankIsOnTheStepLine) {
  ProgressFormat format(model_preset("llama_10m"), 512, {});
  StepReport report;
  report.tokens_per_second = 1000;
  EXPECT_EQ(format.step(report).find("slow"), std::string::npos);
  report.slow_rank = {.rank = 3, .host = "node1", .factor = 1.4};
  EXPECT_NE(format.step(report).find("  slow rank 3 on node1 (1.40x)  ETA"), std::string::npos);
  report.slow_rank->host.reset();
  EXPECT_NE(format.step(report).find("  slow rank 3 (1.40x)  ETA"), std::string::npos);
}

TEST(Progress, StartSaysWhatTheRunComputesOn) {
  ProgressFormat format(model_preset("llama_10m"), 512, {});
  RunFacts facts;
  facts.start.device = "cuda:0 NVIDIA H200", facts.start.precision = "bf16";
  facts.threads = 2;
  const std::string text = format.start(facts);
  EXPECT_NE(text.find("\ndevice   cuda:0 NVIDIA H200, bf16, 2 threads\n"), std::string::npos)
      << text;
}

TEST(Progress, RepeatedDataIsSaidAtTheStart) {
  EXPECT_EQ(epochs_text({{"shards", 0.5}}), "0.5");
  EXPECT_EQ(epochs_text({{"shards", 2.25}}), "2.25: data is repeated");
  EXPECT_EQ(epochs_text({{"web", 0.3}, {"books", 3}}), "web 0.3; books 3: data is repeated");
}

TEST(Progress, TheLossScaleIsShownInFp16Only) {
  ProgressFormat format(model_preset("llama_10m"), 512, {});
  StepReport report;
  report.grad_norm = 0.75;
  report.tokens_per_second = 1000;
  EXPECT_EQ(format.step(report).find("scale"), std::string::npos);
  report.loss_scale = 65536;
  EXPECT_NE(format.step(report).find("norm 0.750  scale 65536  1,000 tok/s"), std::string::npos);
  report.skipped = true;
  EXPECT_NE(format.step(report).find("scale 65536 (skipped)  1,000"), std::string::npos);
}

}  // namespace
}  // namespace ingot
