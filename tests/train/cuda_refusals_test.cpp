// What the CUDA program says where it cannot compute on a GPU: one line, and what to do. Needs
// none.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cli/process.h"
#include "support/build_folder.h"
#include "support/own_folder.h"

namespace ingot::test {
namespace {

class CudaRefusals : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // A small bench, with `variable` in its environment.
  Outcome bench(const std::string& variable, const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"bench", "train", "--preset", "llama_test", "--batch",
                                     "2",     "--seq", "64",       "--steps",    "1"};
    args.insert(args.end(), more.begin(), more.end());
    Process process(args, root_, {"env", variable});
    const int code = process.wait();
    return {code, process.out(), process.err()};
  }
  static void expect_one_line(const Outcome& outcome, const std::string& words) {
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("system.device=cpu"), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }

  const std::string kNoGpu = "CUDA_VISIBLE_DEVICES=";
  // In front of what is there: other libraries of the program may be found only that way.
  static std::string old_driver() {
    const char* others = std::getenv("LD_LIBRARY_PATH");
    return fmt::format("LD_LIBRARY_PATH={}:{}",
                       (testing_support::build_folder() / "old_driver").string(),
                       others ? others : "");
  }

 private:
  std::filesystem::path root_ = testing_support::own_folder();
};

TEST_F(CudaRefusals, WithoutAGpu) {
  for (const char* precision : {"auto", "fp32", "fp8"})
    expect_one_line(bench(kNoGpu, {"--device", "cuda", "--precision", precision}),
                    "no GPU was found");
}

TEST_F(CudaRefusals, AnOldDriver) {
  expect_one_line(bench(old_driver(), {"--device", "cuda"}),
                  "driver is too old for this program: it serves CUDA 12.4");
}

TEST_F(CudaRefusals, UnderAutoAnOldDriverIsWarnedOfAndTheCpuComputes) {
  const Outcome outcome = bench(old_driver(), {"--device", "auto"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("on cpu"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("driver is too old"), std::string::npos) << outcome.err;
}

TEST_F(CudaRefusals, HeadsTooWideForItsKernels) {
  expect_one_line(
      bench(kNoGpu, {"--device", "cuda", "--set", "model.dim=1024", "--set", "model.heads=2",
                     "--set", "model.kv_heads=2", "--set", "model.head_dim=512"}),
      "model.head_dim 512");
}

}  // namespace
}  // namespace ingot::test
