// Ten steps of each preset on an H200 against what they gave before: a change of kernels, libraries
// or order that moves a run shows here. INGOT_WRITE_GOLDENS=FILE writes the file anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/random/random.h"
#include "parallel/comm/world.h"
#include "plan/resolve.h"
#include "support/on_gpu.h"
#include "support/source_path.h"
#include "train/step/engine.h"

namespace ingot::test {
namespace {

const std::string kGoldenFile = testing_support::source_path("tests/golden/h200_ten_steps.json");
constexpr int64_t kB = 2, kT = 256, kSteps = 10;

struct GoldenRun {
  std::string preset, precision, moments = "bf16";

  std::string key() const {  // "llama_500m bf16", "llama_500m bf16 fp32 moments"
    const std::string narrow = preset + " " + precision;
    return moments == "bf16" ? narrow : narrow + " " + moments + " moments";
  }
  friend std::ostream& operator<<(std::ostream& out, const GoldenRun& run) {
    return out << run.key();
  }
};

struct Curve {
  std::vector<double> losses, grad_norms;
};

// Words of a few letters each: something that ten steps begin to learn.
std::vector<int32_t> text_like_tokens(int64_t step) {
  const RandomStream words(11, Purpose::Test, 0, static_cast<uint64_t>(step));
  std::vector<int32_t> tokens(static_cast<size_t>(kB * kT + 1));
  for (size_t i = 0; i < tokens.size(); ++i) {
    const uint32_t word = words.bits(i / 4) % 50;
    tokens[i] = i % 4 == 3 ? ' ' : static_cast<int32_t>('a' + (word + 7 * (i % 4)) % 26);
  }
  return tokens;
}

// Small enough that a run stays near another one whose roundings differ, as when products were
// tuned anew: where a preset overshoots in its third step, at 1e-4 or, the largest and those in 8
// bits, at 1e-5, the last bit of a few weights becomes a tenth of the loss.
double lr_of(const GoldenRun& run) {
  const bool large = run.preset == "llama_7b" || run.preset == "llama3_8b";
  return large || run.precision == "fp8" ? 1e-6 : 1e-5;
}

Curve ten_steps(const GoldenRun& run) {
  const RunConfig config = parse_run_config("", "test",
                                            {{"preset", run.preset},
                                             {"train.precision", run.precision},
                                             {"optim.moments", run.moments},
                                             {"batch.micro_batch", std::to_string(kB)},
                                             {"batch.seq", std::to_string(kT)},
                                             {"train.steps", std::to_string(kSteps)},
                                             {"system.device", "cuda"}});
  const auto world = single_world();
  Engine engine(resolve_here(config), *world);
  engine.init(1);
  Curve curve;
  for (int64_t step = 1; step <= kSteps; ++step) {
    const std::vector<int32_t> tokens = text_like_tokens(step);
    engine.start_step();
    engine.accumulate({tokens.data(), tokens.data() + 1, nullptr}, 1.0 / (kB * kT),
                      /*last=*/true);
    engine.update(lr_of(run), step);
    curve.grad_norms.push_back(engine.take_report().grad_norm);
    curve.losses.push_back(engine.take_loss() / (kB * kT));
  }
  return curve;
}

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  return file ? nlohmann::json::parse(file) : nlohmann::json::object();
}

class CudaGolden : public OnGpu<::testing::TestWithParam<GoldenRun>> {
 protected:
  // Other GPUs have other kernels and choose other products.
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    const std::string name = gpu_facts(gpu().device)->name;
    if (name.find("H200") == std::string::npos)
      GTEST_SKIP() << "the goldens are an H200's, this is " << name;
  }
};

TEST_P(CudaGolden, TenSteps) {
  const std::string key = GetParam().key();
  const Curve curve = ten_steps(GetParam());
  if (const char* path = std::getenv("INGOT_WRITE_GOLDENS"); path != nullptr && *path != 0) {
    nlohmann::json all = read_json(path);
    all[key] = {{"loss", curve.losses}, {"grad_norm", curve.grad_norms}};
    std::ofstream(path) << all.dump(1) << "\n";
    return;
  }
  const nlohmann::json all = read_json(kGoldenFile);
  ASSERT_TRUE(all.contains(key)) << "write it with INGOT_WRITE_GOLDENS=" << kGoldenFile;
  const auto losses = all[key]["loss"].get<std::vector<double>>();
  const auto grad_norms = all[key]["grad_norm"].get<std::vector<double>>();
  ASSERT_EQ(curve.losses.size(), losses.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    EXPECT_NEAR(curve.losses[i] / losses[i], 1.0, 2e-3) << "step " << i + 1;
    EXPECT_NEAR(curve.grad_norms[i] / grad_norms[i], 1.0, 3e-2) << "step " << i + 1;
  }
}

// All presets but llama3_70b, which one GPU does not hold.
INSTANTIATE_TEST_SUITE_P(
    Presets, CudaGolden,
    ::testing::Values(GoldenRun{"llama_test", "bf16"}, GoldenRun{"llama_tiny", "bf16"},
                      GoldenRun{"llama_quickstart", "bf16"}, GoldenRun{"llama_10m", "bf16"},
                      GoldenRun{"debug_120m", "bf16"}, GoldenRun{"llama_124m", "bf16"},
                      GoldenRun{"llama_500m", "bf16"}, GoldenRun{"llama_500m", "bf16", "fp32"},
                      GoldenRun{"llama_500m", "fp8"}, GoldenRun{"llama_1b", "bf16"},
                      GoldenRun{"llama_1b", "fp8"}, GoldenRun{"llama_7b", "bf16"},
                      GoldenRun{"llama_7b", "fp8"}, GoldenRun{"llama3_8b", "bf16"}),
    [](const auto& one) {
      std::string name = one.param.key();
      std::ranges::replace(name, ' ', '_');
      return name;
    });

}  // namespace
}  // namespace ingot::test
