// Whole runs on a GPU: equal to the CPU's, to themselves, and through a stop and resume; and the
// text that their models write.
#include <cmath>
#include <numeric>
#include <vector>

#include "infer/reply.h"
#include "support/cuda_train_fixture.h"
#include "train/step/engine.h"

namespace ingot {
namespace {

using test::expect_close;
using test::Recorder;
using test::run;

class CudaTrain : public test::CudaTrainFixture {};

TEST_F(CudaTrain, Fp32LossesEqualTheCpus) {
  Recorder cpu;
  run(config("cpu", 20), cpu);
  expect_close(losses("gpu", 20, {{"train.precision", "fp32"}}), cpu.losses, 2e-5);
}

TEST_F(CudaTrain, Bf16LossesTrackFp32) {
  Recorder cpu;
  run(config("cpu", 20), cpu);
  expect_close(losses("gpu", 20, {{"train.precision", "bf16"}}), cpu.losses, 1e-2);
}

TEST_F(CudaTrain, Tf32Fp16AndBf16MomentsTrackFp32) {
  const auto fp32 = losses("fp32", 20, {{"train.precision", "fp32"}});
  expect_close(losses("tf32", 20, {{"train.precision", "tf32"}}), fp32, 2e-3);
  expect_close(losses("fp16", 20, {{"train.precision", "fp16"}}), fp32, 5e-3);
  expect_close(losses("moments", 20, {{"train.precision", "fp32"}, {"optim.moments", "bf16"}}),
               fp32, 5e-3);
  expect_close(losses("all", 20, {{"train.precision", "fp16"}, {"optim.moments", "bf16"}}), fp32,
               1e-2);
}

TEST_F(CudaTrain, Fp8TracksBf16AndTheCpusFp8) {
  const Overrides fp8 = {{"train.precision", "fp8"}};
  const auto gpu = losses("gpu", 20, fp8);
  expect_close(gpu, losses("bf16", 20, {{"train.precision", "bf16"}}), 1e-2);
  Recorder cpu;
  run(config("cpu", 20, fp8), cpu);
  expect_close(gpu, cpu.losses, 1e-2);
}

TEST_F(CudaTrain, Fp8RepeatsBitForBitUnderEveryPolicyAndOffload) {
  const auto one = losses("one", 12, {{"train.precision", "fp8"}});
  for (const auto& [name, value] :
       {std::pair{"train.log_every", "1"}, std::pair{"train.recompute", "full"},
        std::pair{"train.recompute", "none"}, std::pair{"train.keep_layers", "1"},
        std::pair{"train.offload_layers", "2"}, std::pair{"train.eval_every", "3"}})
    EXPECT_EQ(losses(std::string(name) + value, 12, {{"train.precision", "fp8"}, {name, value}}),
              one)
        << name << " " << value;
}

TEST_F(CudaTrain, OffloadedActivationsGiveTheSameLossesBitForBit) {
  const Overrides deep = {{"model.layers", "7"}};
  const auto kept = losses("kept", 8, deep);
  for (const char* layers : {"3", "6", "7"}) {
    Overrides more = deep;
    more.push_back({"train.offload_layers", layers});
    EXPECT_EQ(losses(std::string("offload") + layers, 8, more), kept) << layers;
  }
}

// Offloading is not recorded, and one layer of it moves nothing: the same run without graphs.
TEST_F(CudaTrain, RecordedMicroStepsGiveTheSameLossesBitForBit) {
  for (const char* precision : {"bf16", "fp8", "fp16"}) {
    const Overrides recorded = {{"train.precision", precision}, {"batch.tokens", "96"}};
    Overrides called = recorded;
    called.push_back({"train.offload_layers", "1"});
    EXPECT_EQ(losses(std::string("recorded_") + precision, 12, recorded),
              losses(std::string("called_") + precision, 12, called))
        << precision;
  }
}

TEST_F(CudaTrain, Fp16LearnsAsBf16Does) {
  const auto bf16 = losses("bf16", 150, {{"train.precision", "bf16"}});
  const auto fp16 = losses("fp16", 150, {{"train.precision", "fp16"}});
  EXPECT_LT(fp16.at(150), 0.7 * fp16.at(1));
  EXPECT_NEAR(fp16.at(150) / bf16.at(150), 1.0, 2e-2);
}

// The micro-step is issued, recorded, and from then on started as it was recorded; rate 0 leaves
// the weights as they are.
TEST_F(CudaTrain, ARecordedMicroStepServesEveryLossScale) {
  for (const char* precision : {"bf16", "fp8"}) {
    const auto world = single_world();
    const Overrides more = {{"system.device", "cuda"},
                            {"model.vocab", "272"},
                            {"train.precision", precision},
                            {"train.fp8_head", precision == std::string("fp8") ? "true" : "false"}};
    Engine engine(resolve_here(config("run", 6, more)), *world);
    engine.init(1);
    std::vector<int32_t> tokens(2 * 16), targets(2 * 16);  // B · T
    std::iota(tokens.begin(), tokens.end(), 0);
    std::iota(targets.begin(), targets.end(), 1);
    std::vector<double> norms;
    const std::vector<double> scales = {0x1p-5, 0x1p-5, 0x1p-5, 0x1p-4, 0x1p-7, 0x1p-5};
    for (const double scale : scales) {
      engine.start_step();
      engine.accumulate({tokens.data(), targets.data(), nullptr}, scale, /*last=*/true);
      engine.update(/*lr=*/0.0, static_cast<int64_t>(norms.size()) + 1);
      norms.push_back(engine.take_report().grad_norm);
    }
    // Powers of two scale every gradient exactly but for fp8's, whose own scales follow later.
    const double tolerance = precision == std::string("fp8") ? 0.2 : 0.0;
    for (size_t i = 2; i < scales.size(); ++i)
      EXPECT_NEAR(norms[i] / norms[2] / (scales[i] / scales[2]), 1.0, tolerance) << precision;
  }
}

TEST_F(CudaTrain, AnOverflowInFp16UpdatesNothingAndHalvesTheScale) {
  const auto world = single_world();
  const Overrides in_fp16 = {{"system.device", "cuda"}, {"train.precision", "fp16"}};
  Engine engine(resolve_here(config("run", 2, in_fp16)), *world);
  engine.init(1);
  std::vector<int32_t> tokens(2 * 16), targets(2 * 16);  // B · T
  std::iota(tokens.begin(), tokens.end(), 0);
  std::iota(targets.begin(), targets.end(), 1);
  const MicroBatch batch{tokens.data(), targets.data(), nullptr};
  const double before = engine.evaluate(batch).sum;
  StateSection& loss_scale = *engine.sections().front();
  const auto state = [](double scale, int64_t good, int64_t skips) {
    return LossScale({scale, good, skips}).save();
  };
  loss_scale.load(state(0x1p40, 1999, 0));
  int skipped = 0;
  UpdateReport report;
  for (int64_t step = 1; step <= 40; ++step) {
    engine.start_step();
    engine.accumulate(batch, 1.0 / 32, /*last=*/true);
    engine.update(1e-2, step);
    report = engine.take_report();
    if (!report.skipped) break;
    ++skipped;
    EXPECT_EQ(engine.evaluate(batch).sum, before);
    EXPECT_EQ(loss_scale.save(), state(std::ldexp(1.0, 40 - skipped), 0, skipped));
  }
  EXPECT_GT(skipped, 10);
  ASSERT_FALSE(report.skipped);
  EXPECT_TRUE(std::isfinite(report.grad_norm));
  EXPECT_LT(engine.evaluate(batch).sum, before);
  EXPECT_EQ(loss_scale.save(), state(std::ldexp(1.0, 40 - skipped), 1, skipped));
}

// Ranks that share the GPU: streams of their own, sums in rank order.
TEST_F(CudaTrain, RanksOnOneGpuTrainAsOneRankDoes) {
  const Overrides fp32 = {{"train.precision", "fp32"}, {"batch.micro_batch", "1"}};
  const auto one = losses("one", 20, fp32);
  for (const char* ranks : {"2", "4"})
    for (const char* layout : {"replicated", "fully_sharded"})
      for (const char* sync : {"micro_step", "step"}) {
        Overrides more = fp32;
        more.insert(more.end(), {{"system.ranks", ranks},
                                 {"system.data_parallel", layout},
                                 {"system.gradient_sync", sync}});
        const std::string name = std::string(ranks) + layout + sync;
        SCOPED_TRACE(name);
        expect_close(losses(name, 20, more), one, 1e-5);
        EXPECT_EQ(losses_of_halves(name + "_halves", 20, more), losses(name + "_again", 20, more));
      }
}

TEST_F(CudaTrain, TwoRunsAndAllPoliciesAreBitEqual) {
  const auto one = losses("one", 12);
  EXPECT_EQ(losses("two", 12), one);
  for (const char* policy : {"none", "full"})
    EXPECT_EQ(losses(policy, 12, {{"train.recompute", policy}}), one) << policy;
  for (const char* policy : {"selective", "full"})
    EXPECT_EQ(losses(std::string("kept_") + policy, 12,
                     {{"train.recompute", policy}, {"train.keep_layers", "1"}}),
              one)
        << policy;
}

// Of more multiply-adds than fused_linear.cu asks for, so that what is kept is not written again.
TEST_F(CudaTrain, PoliciesAreBitEqualWhereProductAndActivationAreOneKernel) {
  const auto of = [&](const std::string& name, Overrides more) {
    for (const auto& [key, value] :
         {std::pair{"preset", "llama_10m"}, std::pair{"model.layers", "3"},
          std::pair{"batch.seq", "512"}, std::pair{"batch.tokens", "0"}})
      more.insert(more.begin(), {key, value});
    more.push_back({"system.cache_dir", (root_ / "cache").string()});  // the same products in all
    return losses(name, 6, more);
  };
  const auto one = of("one", {});
  for (const char* layers : {"1", "2", "3"})
    EXPECT_EQ(of(std::string("kept_") + layers, {{"train.keep_layers", layers}}), one) << layers;
  for (const char* policy : {"none", "full"})
    EXPECT_EQ(of(policy, {{"train.recompute", policy}}), one) << policy;
}

TEST_F(CudaTrain, StoppedAndResumedEqualsUndisturbedBitForBit) {
  for (const auto& [name, value] :
       {std::pair{"train.precision", "bf16"}, std::pair{"train.precision", "fp16"},
        std::pair{"train.precision", "fp8"}, std::pair{"optim.moments", "bf16"},
        std::pair{"batch.tokens", "0"}}) {  // one micro-step: gradients lie where activations were
    const Overrides more = {{name, value}};
    EXPECT_EQ(losses_of_halves(std::string("halves_") + name + value, 12, more),
              losses(std::string(name) + value, 12, more))
        << name << " " << value;
  }
}

TEST_F(CudaTrain, MuonTracksTheCpuAndRepeatsBitForBit) {
  const Overrides muon = {{"optim.kind", "muon"}};
  Recorder cpu;
  run(config("cpu", 20, muon), cpu);
  const auto gpu = losses("gpu", 20, muon);
  expect_close(gpu, cpu.losses, 2e-2);
  EXPECT_EQ(losses("again", 20, muon), gpu);
  Overrides in_fp16 = muon;
  in_fp16.push_back({"train.precision", "fp16"});
  expect_close(losses("fp16", 20, in_fp16), cpu.losses, 2e-2);
}

TEST_F(CudaTrain, DocumentMaskAndQkNormRunAsOnTheCpu) {
  const Overrides all = {{"train.document_mask", "true"},
                         {"model.qk_norm", "true"},
                         {"model.softcap", "15"},
                         {"train.z_loss", "1e-4"}};
  Recorder cpu;
  run(config("cpu", 8, all), cpu);
  Overrides on_gpu = all;
  on_gpu.push_back({"train.precision", "fp32"});
  expect_close(losses("gpu", 8, on_gpu), cpu.losses, 2e-5);
}

TEST_F(CudaTrain, GreedyTextOfItsModelIsTheSameOnTheCpu) {
  losses("run", 100, {{"preset", "llama_tiny"}, {"batch.seq", "64"}, {"batch.tokens", "512"}});
  const auto text_on = [&](Context ctx) {
    LoadedModel model(ctx, posix_storage(), (root_ / "run").string(), {.max_rows = 32});
    SamplingOptions greedy;
    greedy.temperature = 0;
    // A prompt of more tokens than the decoder takes at once.
    return write_text(model,
                      "line 7 follows line 6.\nline 8 follows line 7.\nline 9 follows line 8.\n",
                      150, greedy)
        .text;
  };
  const std::string text = text_on(gpu());
  EXPECT_EQ(text, text_on(cpu()));
  EXPECT_NE(text.find("follows line "), std::string::npos) << text;
}

}  // namespace
}  // namespace ingot
