#include "plan/resolve.h"

#include <gtest/gtest.h>

#include "core/error/error.h"

namespace ingot {
namespace {

ValidConfig with(const Overrides& overrides) {
  return ValidConfig::open_ended(parse_run_config("", "test", overrides));
}

ResolvedRun on_cpu(const Overrides& overrides, int cores = 8) {
  return resolve_elsewhere(with(overrides), DeviceFacts{}, cores);
}

ResolvedRun on_gpu(const char* gpu, const Overrides& overrides) {
  return resolve_elsewhere(with(overrides), known_gpu(gpu).value(), 8);
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Resolve, AutoIsFp32OnTheCpuAndBf16OnAGpu) {
  const ResolvedRun cpu = on_cpu({}), gpu = on_gpu("a100", {});
  EXPECT_EQ(cpu.config.train.precision, Precision::Fp32);
  EXPECT_EQ(cpu.config.system.device, DeviceChoice::Cpu);
  EXPECT_EQ(cpu.shape.compute, DType::F32);
  EXPECT_EQ(gpu.config.train.precision, Precision::Bf16);
  EXPECT_EQ(gpu.config.system.device, DeviceChoice::Cuda);
  EXPECT_EQ(gpu.shape.compute, DType::BF16);
  EXPECT_EQ(gpu.place.device, Device::cuda(0));
}

// Of a world of 5 on two machines: cores and memory are divided among those of this one.
TEST(Resolve, ARankThatIsAProcessHasItsShareOfItsMachine) {
  const Overrides world = {{"system.ranks", "5"}, {"system.device", "cpu"}};
  const LocalPlace place{.rank = 1, .ranks = 2, .cores = 7};
  const ResolvedRun run = resolve_rank_here(with(world), place);
  EXPECT_EQ(run.place.threads_per_rank, 3);
  EXPECT_EQ(run.place.device_ranks, 2);
  EXPECT_EQ(run.shape.layout.world(), 5);
  EXPECT_EQ(run.recorded->system.ranks, 5);
  EXPECT_EQ(run.recorded->system.threads, 0);
  Overrides asked = world;
  asked.push_back({"system.threads", "8"});
  EXPECT_EQ(resolve_rank_here(with(asked), place).place.threads_per_rank, 4);
  EXPECT_EQ(
      resolve_rank_here(with(world), {.rank = 3, .ranks = 4, .cores = 2}).place.threads_per_rank,
      1);
}

TEST(Resolve, NothingIsLeftToDecide) {
  const ResolvedRun run = on_cpu({{"train.steps", "100"},
                                  {"batch.micro_batch", "4"},
                                  {"batch.seq", "128"},
                                  {"system.ranks", "2"},
                                  {"optim.schedule.unit", "steps"},
                                  {"optim.schedule.warmup_fraction", "0.1"}});
  const RunConfig& config = run.config;
  EXPECT_EQ(config.batch.tokens, 4 * 128 * 2);
  EXPECT_EQ(config.optim.schedule.warmup, 10);
  EXPECT_EQ(config.optim.schedule.warmup_fraction, 0.0);
  EXPECT_EQ(config.train.loss_chunk, 512);
  EXPECT_EQ(config.system.threads, 8);
  EXPECT_EQ(run.place.threads_per_rank, 4);
  EXPECT_EQ(run.steps.horizon.tokens, 100 * 4 * 128 * 2);
  EXPECT_EQ(run.shape.layout.world(), 2);
  EXPECT_TRUE(run.one_micro_step);
  EXPECT_GT(run.shape.head_workspace_bytes, 0);
  EXPECT_NO_THROW(ValidConfig{config});
}

TEST(Resolve, AStepOfSeveralMicroStepsIsKnownAsSuch) {
  EXPECT_FALSE(on_cpu({{"batch.tokens", "8192"}}).one_micro_step);
  EXPECT_TRUE(on_cpu({{"batch.tokens", "8192"}, {"system.ranks", "2"}}).one_micro_step);
}

// A checkpoint goes on wherever its settings leave room, but not in another precision.
TEST(Resolve, OnlyThePrecisionIsDecidedInWhatIsRecorded) {
  const ValidConfig asked = with({{"train.steps", "10"}});
  RunConfig recorded = *resolve_elsewhere(asked, DeviceFacts{}, 8).recorded;
  EXPECT_EQ(recorded.train.precision, Precision::Fp32);
  recorded.train.precision = asked->train.precision;
  EXPECT_EQ(to_toml(recorded), to_toml(*asked));
}

TEST(Resolve, AGpusLossChunkIsOneGibOfLogits) {
  const ResolvedRun run = on_gpu("h200", {{"model.vocab", "131072"}, {"batch.micro_batch", "64"}});
  EXPECT_EQ(run.config.train.loss_chunk, 4096);
  EXPECT_EQ(run.shape.loss_chunk, 4096);
  // No more than a micro-batch has.
  EXPECT_EQ(on_gpu("h200", {{"batch.micro_batch", "1"}}).shape.loss_chunk, 512);
}

TEST(Resolve, SeveralRanksComputeOnTheCpuUnlessTold) {
  EXPECT_EQ(resolve_here(with({{"system.ranks", "2"}})).place.device, Device::cpu());
}

TEST(Resolve, PrecisionsThatTheDeviceDoesNotHaveAreRefused) {
  for (const char* precision : {"tf32", "fp16"})
    EXPECT_EQ(refusal([&] {
                on_cpu({{"train.precision", precision}});
              }),
              std::string("train.precision ") + precision +
                  " needs a GPU and this run is on the CPU: use fp32 or bf16");
  const Overrides fp8 = {{"train.precision", "fp8"}};
  EXPECT_EQ(refusal([&] { on_gpu("a100", fp8); }),
            "train.precision fp8 needs a GPU of compute capability 8.9 or more and NVIDIA "
            "A100-SXM4-80GB has 8.0: use bf16");
  EXPECT_TRUE(on_gpu("l4", fp8).shape.fp8);
  EXPECT_TRUE(on_cpu(fp8).shape.fp8);  // imitated
  EXPECT_NE(refusal([&] {
              on_gpu("h200", {{"train.precision", "fp64"}});
            }).find("is for runs on the CPU"),
            std::string::npos);
  EXPECT_EQ(on_cpu({{"train.precision", "fp64"}}).shape.compute, DType::F64);
}

TEST(Resolve, HeadsTooWideForAGpuAreRefusedBeforeItIsTouched) {
  const Overrides wide = {{"model.dim", "2048"}, {"model.heads", "4"}, {"model.kv_heads", "4"}};
  EXPECT_EQ(on_cpu(wide).config.model.head_dim, 512);
  Overrides on_gpu = wide;
  on_gpu.push_back({"system.device", "cuda"});
  const std::string message = refusal([&] { resolve_here(with(on_gpu)); });
  EXPECT_NE(message.find("model.head_dim 512"), std::string::npos) << message;
}

TEST(Resolve, ContradictionsAreRefusedButAnOpenEndOnlyUnlessItIsMeant) {
  EXPECT_EQ(on_cpu({}).steps.horizon.steps, 0);
  EXPECT_NE(refusal([&] {
              resolve_elsewhere(parse_run_config("", "test", {}), DeviceFacts{}, 1);
            }).find("nothing says when to stop"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              on_cpu({{"batch.seq", "4096"}});
            }).find("model.context"),
            std::string::npos);
}

// What `auto` came to is held to the rules of precision.
TEST(Resolve, ADecidedPrecisionKeepsItsRules) {
  const Overrides reduced = {{"system.reduce_dtype", "bf16"}};
  EXPECT_EQ(on_gpu("h200", reduced).config.train.precision, Precision::Bf16);
  EXPECT_NE(refusal([&] { on_cpu(reduced); }).find("got train.precision fp32"), std::string::npos);
}

// There is no way to a run but through the rules: not from settings, nor by changing one.
static_assert(!std::is_default_constructible_v<ResolvedRun>);
static_assert(!std::is_aggregate_v<ResolvedRun>);
static_assert(!std::is_constructible_v<ResolvedRun, RunConfig, RunPlace>);
static_assert(!std::is_constructible_v<ResolvedRun, ValidConfig, RunPlace>);
static_assert(!std::is_assignable_v<ResolvedRun&, ResolvedRun>);
static_assert(!std::is_assignable_v<decltype((std::declval<ResolvedRun&>().config)), RunConfig>);
static_assert(!std::is_default_constructible_v<ValidConfig>);
static_assert(!std::is_assignable_v<decltype((*std::declval<ValidConfig&>())), RunConfig>);

}  // namespace
}  // namespace ingot
