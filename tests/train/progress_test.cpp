#include "train/progress.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(Progress, StepLineShowsShareOfMeasuredPeakAndTimeLeft) {
  ProgressFormat format(model_preset("llama_10m"), 512, 1e12);
  StepReport report;
  report.step = 5, report.total_steps = 10;
  report.tokens = 5000, report.total_tokens = 10000;
  report.loss = 2.5, report.lr = 1e-3, report.grad_norm = 0.75;
  report.tokens_per_second = 1000;
  const std::string line = format.step(report);
  EXPECT_NE(line.find("step 5/10  loss 2.5000  lr 1.00e-03  norm 0.750  1,000 tok/s"),
            std::string::npos)
      << line;
  EXPECT_NE(line.find("MFU 6."), std::string::npos) << line;  // 59.8 MFLOP a token at 1 TFLOP/s
  EXPECT_NE(line.find("ETA 5.0 s"), std::string::npos) << line;
}

TEST(Progress, StartSaysWhatTheRunComputesOn) {
  const ProgressFormat format(model_preset("llama_10m"), 512, 0);
  RunFacts facts;
  facts.device = "cuda:0 NVIDIA H200", facts.precision = "bf16", facts.threads = 2;
  const std::string text = format.start(facts);
  EXPECT_NE(text.find("\ndevice   cuda:0 NVIDIA H200, bf16, 2 threads\n"), std::string::npos)
      << text;
}

TEST(Progress, TheLossScaleIsShownInFp16Only) {
  ProgressFormat format(model_preset("llama_10m"), 512, 0);
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
