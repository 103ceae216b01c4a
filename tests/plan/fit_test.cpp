#include "plan/fit.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error/error.h"
#include "plan/resolve.h"
#include "plan/train_table.h"

namespace ingot {
namespace {

ResolvedRun on_cpu(const Overrides& overrides) {
  return resolve_elsewhere(ValidConfig::open_ended(parse_run_config("", "test", overrides)),
                           DeviceFacts{}, 1);
}

int64_t bytes_of(const ResolvedRun& run) {
  return plan_memory(train_table(run)).total_bytes;
}

TEST(Fit, TheLastByteDecides) {
  const ResolvedRun run = on_cpu({{"system.ranks", "2"}});
  const int64_t needed = 2 * bytes_of(run);
  EXPECT_TRUE(fit_memory(run, needed).fits());
  EXPECT_FALSE(fit_memory(run, needed - 1).fits());
}

TEST(Fit, OnAGpuKernelsHaveRoomBesides) {
  const ResolvedRun run = resolve_elsewhere(
      ValidConfig::open_ended(parse_run_config("", "test", {})), known_gpu("h200").value(), 1);
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

}  // namespace
}  // namespace ingot
