#include "plan/memory_report.h"

#include <gtest/gtest.h>

#include "plan/resolve.h"

namespace ingot {
namespace {

ResolvedRun on_gpu(const char* gpu, const Overrides& overrides) {
  return resolve_elsewhere(ValidConfig::open_ended(parse_run_config("", "test", overrides)),
                           known_gpu(gpu).value(), 1);
}

TEST(MemoryReport, CategoriesAddUpToWhatARankTakes) {
  const ResolvedRun run = on_gpu("h200", {{"preset", "llama_1b"}, {"batch.seq", "2048"}});
  const nlohmann::json json = to_json(memory_report(run, run.place.facts.memory_bytes));
  int64_t sum = 0;
  for (const auto& [what, bytes] : json.at("bytes").items()) sum += bytes.get<int64_t>();
  EXPECT_EQ(sum, json.at("bytes_per_rank"));
  EXPECT_GT(json.at("bytes").at("weights"), 2 * parameter_count(run.config.model) - 1);
  EXPECT_EQ(json.at("device"), "NVIDIA H200");
  EXPECT_EQ(json.at("precision"), "bf16");
  EXPECT_EQ(json.at("reserve_bytes"), kCudaReserveBytes);
  EXPECT_TRUE(json.at("fits"));
  EXPECT_FALSE(json.contains("advice"));
}

TEST(MemoryReport, SaysWhatWouldFitWhereItDoesNot) {
  const ResolvedRun run = on_gpu("rtx4090", {{"preset", "llama_7b"}});
  const MemoryReport report = memory_report(run, run.place.facts.memory_bytes);
  const nlohmann::json json = to_json(report);
  EXPECT_FALSE(json.at("fits"));
  EXPECT_NE(text_of(report).find("it does not fit: "), std::string::npos) << text_of(report);
  EXPECT_NE(text_of(report).find("--set system.offload_optimizer=true"), std::string::npos);
  EXPECT_GT(json.at("changes").size(), 2u);
  EXPECT_GT(json.at("changes")[0].at("gives_bytes"), 0);
}

TEST(MemoryReport, OffloadedActivationsAreHostMemory) {
  const Overrides base = {{"preset", "llama_1b"}, {"batch.seq", "2048"}};
  Overrides offloading = base;
  offloading.emplace_back("train.offload_layers", "6");
  const MemoryReport plain = memory_report(on_gpu("h200", base), 0);
  const MemoryReport offloaded = memory_report(on_gpu("h200", offloading), 0);
  EXPECT_EQ(plain.host_bytes, 0);
  EXPECT_GT(offloaded.host_bytes, 0);
  // Four of the six wait in host memory, the other two stay.
  const auto host = static_cast<double>(offloaded.host_bytes);
  const int64_t saved = plain.fit.plan.total_bytes - offloaded.fit.plan.total_bytes;
  EXPECT_NEAR(static_cast<double>(saved) / host, 1.0, 0.01);
}

}  // namespace
}  // namespace ingot
