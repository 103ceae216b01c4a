#include "spec/run/valid_config.h"

#include <gtest/gtest.h>

#include "spec/error_text.h"

namespace ingot {
namespace {

RunConfig good() {
  return parse_run_config("", "", {{"train.steps", "10"}});
}

std::string refusal(const Overrides& overrides) {
  Overrides all = {{"train.steps", "10"}};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return error_text([&] { ValidConfig(parse_run_config("", "", all)); });
}

TEST(ValidConfig, AConsistentRunPasses) {
  EXPECT_NO_THROW(ValidConfig{good()});
  RunConfig c = good();
  c.batch.tokens = 8 * 512 * 4;
  c.system.ranks = 2;
  c.batch.ramp_start_tokens = 8 * 512 * 2;
  c.batch.ramp_tokens = 1'000'000;
  c.optim.schedule.kind = ScheduleKind::Wsd;
  c.optim.schedule.unit = ScheduleUnit::Steps;
  c.optim.schedule.warmup = 2;
  c.optim.schedule.decay = 8;
  EXPECT_NO_THROW(ValidConfig{c});
}

TEST(ValidConfig, PrecisionSettingsFitTogether) {
  EXPECT_EQ(refusal({{"train.fp8_head", "true"}}),
            "train.fp8_head belongs to train.precision fp8, got auto: set it to false or the "
            "precision to fp8");
  EXPECT_EQ(refusal({{"train.fp8_head", "true"}, {"train.precision", "fp64"}}),
            "train.fp8_head belongs to train.precision fp8, got fp64: set it to false or the "
            "precision to fp8");
  EXPECT_EQ(refusal({{"optim.moments", "bf16"}, {"train.precision", "fp64"}}),
            "train.precision fp64 keeps moments in fp64 too, got optim.moments bf16: leave it out, "
            "or use fp32");
  RunConfig c = good();
  c.train.precision = Precision::Fp64;
  EXPECT_NO_THROW(ValidConfig{c});
  c.train.precision = Precision::Fp8;
  c.train.fp8_head = true;
  EXPECT_NO_THROW(ValidConfig{c});
}

TEST(ValidConfig, LayersAreKeptOrOffloadedAndThereAreAsMany) {
  for (const char* name : {"train.keep_layers", "train.offload_layers"}) {
    EXPECT_EQ(refusal({{name, "9"}}),
              std::string(name) + ": expected at most the model's 8 layers, got 9");
    EXPECT_NO_THROW(ValidConfig{parse_run_config("", "", {{"train.steps", "10"}, {name, "8"}})});
  }
  EXPECT_EQ(refusal({{"train.keep_layers", "2"}, {"train.offload_layers", "3"}}),
            "train.keep_layers spends memory and train.offload_layers saves it, got 2 and 3: set "
            "one of them to 0");
}

TEST(ValidConfig, TheModelMustBePossible) {
  EXPECT_EQ(refusal({{"model.heads", "7"}}),
            "model.heads must divide model.dim: expected a divisor of 256, got 7; or set "
            "model.head_dim");
}

TEST(ValidConfig, SequencesMustFitTheContext) {
  EXPECT_EQ(refusal({{"batch.seq", "4096"}}),
            "batch.seq is beyond the model's context: expected at most model.context = 2048, got "
            "4096; lower batch.seq or raise model.context");
}

TEST(ValidConfig, AStepMustBeWholeMicroBatchesOnEveryRank) {
  EXPECT_EQ(refusal({{"batch.tokens", "10000"}, {"system.ranks", "2"}}),
            "batch.tokens must be a multiple of micro_batch · seq · ranks = 8 · 512 · 2 = 8192, "
            "got 10000: nearest are 8192 and 16384");
  EXPECT_EQ(refusal({{"batch.tokens", "100"}}),
            "batch.tokens must be a multiple of micro_batch · seq · ranks = 8 · 512 · 1 = 4096, "
            "got 100: nearest is 4096");
}

TEST(ValidConfig, ARampHasAStartALengthAndGrows) {
  EXPECT_EQ(refusal({{"batch.ramp_start_tokens", "4096"}}),
            "a batch-size ramp needs both batch.ramp_start_tokens and batch.ramp_tokens, got 4096 "
            "and 0: set both, or neither for no ramp");
  const Overrides ramp = {{"batch.ramp_start_tokens", "8192"}, {"batch.ramp_tokens", "1M"}};
  EXPECT_EQ(refusal(ramp),
            "a batch-size ramp needs batch.tokens, the tokens of a step at its end, got 0");
  const auto with = [&](Overrides more) {
    more.insert(more.begin(), ramp.begin(), ramp.end());
    return refusal(more);
  };
  EXPECT_EQ(with({{"batch.tokens", "4096"}}),
            "batch.ramp_start_tokens: a ramp grows, so expected at most the 4096 tokens of a step, "
            "got 8192");
  EXPECT_EQ(with({{"batch.tokens", "32768"}, {"system.ranks", "4"}}),
            "batch.ramp_start_tokens must be a multiple of micro_batch · seq · ranks = 8 · 512 · 4 "
            "= 16384, got 8192: nearest is 16384; batch.micro_batch = 4 keeps it");
}

TEST(ValidConfig, ExactlyOneSettingSaysWhenToStop) {
  EXPECT_EQ(refusal({{"train.steps", "0"}}),
            "nothing says when to stop: set train.total_tokens or train.steps");
  EXPECT_EQ(
      refusal({{"train.total_tokens", "1M"}}),
      "train.total_tokens (1000000) and train.steps (10) both say when to stop: leave one out, "
      "or where both stand in the recipe add --set train.steps=10");
}

TEST(ValidConfig, TheScheduleMustFitTheRun) {
  EXPECT_EQ(refusal({{"optim.schedule.kind", "wsd"}}),
            "optim.schedule.kind wsd ends in a decay: set optim.schedule.decay to its length, or "
            "optim.schedule.decay_fraction");
  EXPECT_EQ(refusal({{"optim.schedule.decay", "5"}}),
            "optim.schedule.decay belongs to kind wsd: set it to 0 or the kind to wsd, got 5");
  EXPECT_EQ(refusal({{"optim.schedule.unit", "steps"}, {"optim.schedule.warmup", "11"}}),
            "optim.schedule: warmup 11 and decay 0 must fit into the run's 10 steps: add --set "
            "optim.schedule.warmup_fraction=0.05, or train longer");
  // Also where the run is told in steps and the schedule counts tokens: 10 steps are 40,960.
  EXPECT_EQ(refusal({{"optim.schedule.warmup", "1M"}}),
            "optim.schedule: warmup 1000000 and decay 0 must fit into the run's 40960 tokens: add "
            "--set optim.schedule.warmup_fraction=0.05, or train longer");
  const Overrides wsd = {{"optim.schedule.kind", "wsd"},
                         {"optim.schedule.unit", "steps"},
                         {"optim.schedule.warmup", "5"}};
  const auto decaying = [&](const char* decay) {
    Overrides all = wsd;
    all.emplace_back("optim.schedule.decay", decay);
    return refusal(all);
  };
  EXPECT_EQ(decaying("8"),
            "optim.schedule: warmup 5 and decay 8 must fit into the run's 10 steps: add --set "
            "optim.schedule.warmup_fraction=0.05, or train longer");
  EXPECT_EQ(decaying("20"),
            "optim.schedule: warmup 5 and decay 20 must fit into the run's 10 steps: add --set "
            "optim.schedule.decay_fraction=0.2 --set optim.schedule.warmup_fraction=0.05, or train "
            "longer");
  EXPECT_EQ(refusal({{"optim.schedule.warmup", "3"}, {"optim.schedule.warmup_fraction", "0.1"}}),
            "optim.schedule.warmup (3) and optim.schedule.warmup_fraction (0.1) both say how long "
            "to warm up: leave one out, or where both stand in the recipe add --set "
            "optim.schedule.warmup_fraction=0.1");
}

TEST(ValidConfig, APeakWithSparsityIsRefused) {
  EXPECT_EQ(refusal({{"system.peak_tflops", "1979"}}),
            "system.peak_tflops: 1979 TFLOP/s is the NVIDIA H200's figure with sparsity, which "
            "training does not use; its dense peak in bf16 is 989.4: leave system.peak_tflops out, "
            "or --set system.peak_tflops=989.4");
  RunConfig c = good();
  c.system.peak_tflops = 989;
  EXPECT_NO_THROW(ValidConfig{c});
  c.system.peak_tflops = 1979;
  c.train.precision = Precision::Fp8;  // in 8 bits it is dense
  EXPECT_NO_THROW(ValidConfig{c});
}

TEST(ValidConfig, AnOffloadedOptimizerIsAdamWBesideWeightsThatTheCpuCanWrite) {
  const std::pair<std::string, std::string> offloaded = {"system.offload_optimizer", "true"};
  EXPECT_EQ(refusal({offloaded, {"optim.kind", "muon"}}),
            "system.offload_optimizer updates with adamw, got optim.kind muon, whose GEMMs need "
            "the GPU: set one of them otherwise");
  EXPECT_EQ(refusal({offloaded, {"train.precision", "fp16"}}),
            "system.offload_optimizer keeps weights in fp32 or bf16, got train.precision fp16: use "
            "bf16");
  RunConfig c = good();
  c.system.offload_optimizer = true;
  EXPECT_NO_THROW(ValidConfig{c});
}

TEST(ValidConfig, LayoutsThatContradictThemselvesAreRefused) {
  EXPECT_EQ(refusal({{"system.ranks", "4"}, {"system.shard_ranks", "2"}}),
            "system.shard_ranks says how many ranks share a copy, and replicated ones share "
            "nothing, got 2: set system.data_parallel to zero1, zero2 or fully_sharded, or it to "
            "0");
  EXPECT_EQ(refusal({{"system.ranks", "6"},
                     {"system.data_parallel", "fully_sharded"},
                     {"system.shard_ranks", "4"}}),
            "system.shard_ranks: expected a divisor of system.ranks = 6, got 4");
  EXPECT_EQ(refusal({{"system.data_parallel", "zero1"}, {"system.reshard", "false"}}),
            "system.reshard=false belongs to system.data_parallel=fully_sharded: other ranks have "
            "whole weights anyway; leave it out");
  EXPECT_EQ(refusal({{"system.data_parallel", "zero2"}, {"system.gradient_sync", "step"}}),
            "system.data_parallel zero2 shares gradients, so they are reduced in every micro-step, "
            "got system.gradient_sync step: leave it out, or use zero1");
  EXPECT_EQ(refusal({{"system.reduce_dtype", "bf16"}, {"train.precision", "fp32"}}),
            "system.reduce_dtype bf16 is for runs that compute in bf16 or fp8, got train.precision "
            "fp32: use fp32");
}

TEST(ValidConfig, MuonNeedsASchedule) {
  EXPECT_EQ(refusal({{"optim.kind", "muon"}, {"optim.lr", "0"}}),
            "optim.kind muon follows the schedule of optim.lr: expected it above 0, got 0; set "
            "optim.muon_lr for the matrices");
  RunConfig c = good();
  c.optim.kind = OptimKind::Muon;
  c.system.ranks = 2;
  c.system.data_parallel = DataParallel::FullySharded;
  EXPECT_NO_THROW(ValidConfig{c});
}

}  // namespace
}  // namespace ingot
