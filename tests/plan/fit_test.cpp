#include "plan/fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "core/error.h"
#include "plan/resolve.h"
#include "plan/train_table.h"

namespace ingot {
namespace {

ResolvedRun on_cpu(const Overrides& overrides) {
  return resolve(parse_run_config("", "test", overrides), DeviceFacts{}, 1);
}

int64_t bytes_of(const ResolvedRun& run) {
  return plan_memory(train_table(run)).total_bytes;
}

// To a run on a device with so much of the memory free that it asks for.
std::string advice_at(double share, const ResolvedRun& run, bool resumed = false) {
  return advice(run, static_cast<int64_t>(share * static_cast<double>(bytes_of(run))), resumed);
}

TEST(Fit, TheLastByteDecides) {
  const ResolvedRun run = on_cpu({{"system.ranks", "2"}});
  const int64_t needed = 2 * bytes_of(run);
  EXPECT_TRUE(fit_memory(run, needed).fits());
  EXPECT_FALSE(fit_memory(run, needed - 1).fits());
}

TEST(Fit, OnAGpuKernelsHaveRoomBesides) {
  const ResolvedRun run = resolve(parse_run_config("", "test", {}), known_gpu("h200").value(), 1);
  EXPECT_TRUE(fit_memory(run, bytes_of(run) + kCudaReserveBytes).fits());
  EXPECT_FALSE(fit_memory(run, bytes_of(run) + kCudaReserveBytes - 1).fits());
}

TEST(Fit, WhatDoesNotFitHereIsRefusedWithAdvice) {
  const ResolvedRun run = on_cpu({{"preset", "llama3_70b"}, {"batch.micro_batch", "65536"}});
  try {
    check_fits_here(run);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Memory);
    EXPECT_NE(std::string(error.what()).find("smaller model"), std::string::npos) << error.what();
  }
  check_fits_here(on_cpu({{"preset", "llama_test"}, {"batch.seq", "64"}}));
}

TEST(Advice, KeepingNoLayersWouldFit) {
  const ResolvedRun run = on_cpu({{"batch.micro_batch", "256"},
                                  {"batch.seq", "64"},
                                  {"train.recompute", "full"},
                                  {"train.keep_layers", "8"}});
  EXPECT_EQ(advice_at(0.8, run), "batch.micro_batch = 256 with train.keep_layers = 0 fits");
}

TEST(Advice, RebuildingLayersWouldKeepTheBatch) {
  const ResolvedRun run = on_cpu({{"batch.micro_batch", "64"}});
  EXPECT_EQ(advice_at(0.8, run), "batch.micro_batch = 64 with train.recompute = \"full\" fits");
}

// A smaller micro-batch alone would make a smaller batch where batch.tokens follows it.
TEST(Advice, AResumedRunKeepsItsBatch) {
  const ResolvedRun run = on_cpu({{"batch.micro_batch", "64"}});
  EXPECT_EQ(advice_at(0.8, run, /*resumed=*/true),
            fmt::format("batch.micro_batch = 64 with batch.tokens = {} and train.recompute = "
                        "\"full\" fits",
                        64 * 512));
}

// A batch too large even then: the largest micro-batches of both ways, such that steps of
// batch.tokens can be made of them.
TEST(Advice, NamesTheBatchesThatFitAsItIsAndRebuildingLayers) {
  const ResolvedRun run =
      on_cpu({{"batch.micro_batch", "512"}, {"batch.tokens", std::to_string(512 * 512)}});
  const std::string text = advice_at(0.2, run);
  int as_it_is = 0, rebuilding = 0;
  ASSERT_EQ(std::sscanf(text.c_str(),
                        "batch.micro_batch = %d fits, or %d with train.recompute = \"full\"",
                        &as_it_is, &rebuilding),
            2)
      << text;
  EXPECT_LT(as_it_is, rebuilding);
  EXPECT_LT(rebuilding, 512);
  for (const int B : {as_it_is, rebuilding}) EXPECT_EQ(512 % B, 0) << B;
}

// Of AdamW's 16 bytes a parameter, 4 go with moments in bf16, which a resume may not change.
TEST(Advice, NarrowMomentsWouldFitButNotToAResume) {
  const ResolvedRun run =
      on_cpu({{"preset", "debug_120m"}, {"batch.micro_batch", "2"}, {"batch.seq", "64"}});
  EXPECT_EQ(advice_at(0.86, run), "batch.micro_batch = 2 with optim.moments = \"bf16\" fits");
  EXPECT_EQ(advice_at(0.86, run, /*resumed=*/true),
            "not even one sequence fits: go on where more memory is free");
}

}  // namespace
}  // namespace ingot
