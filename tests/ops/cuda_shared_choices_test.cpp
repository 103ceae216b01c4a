// Ranks take rank 0's algorithm of a large GEMM instead of timing their own.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "ops/matmul.h"
#include "ops/memory.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

using CudaSharedChoices = OnGpu<::testing::Test>;

// Rank 0's part, then another rank's.
class Told final : public SharedChoices {
 public:
  std::optional<std::string> ask(const std::string& what) override {
    ++asked;
    if (!leads && told.contains(what)) return told[what];
    return std::nullopt;
  }
  void tell(const std::string& what, const std::string& choice) override {
    if (leads) told[what] = choice;
  }

  bool leads = true;
  int asked = 0;
  std::map<std::string, std::string> told;
};

// y(1024, 1024) of two matrices of ones, on a context of its own that keeps what it times in `dir`.
std::vector<float> multiply(Told& told, const std::string& dir) {
  constexpr int64_t n = 1024;
  ComputeDevice compute(Device::cuda(0), 1, dir);
  Context& ctx = compute.context();
  ctx.choices = &told;
  const int64_t bytes = n * n * size_of(DType::F32);
  const int64_t scratch = matmul_workspace_bytes(ctx.facts);
  const Arena arena(ctx.device, 3 * bytes + scratch);
  const auto matrix = [&](int64_t i) { return arena.place(i * bytes, DType::F32, {n, n}); };
  ctx.workspace = Workspace(arena.place(3 * bytes, DType::U8, {scratch}));
  std::vector<float> values(static_cast<size_t>(n * n), 1.0f);
  copy_from_host(ctx, values.data(), matrix(0));
  copy_from_host(ctx, values.data(), matrix(1));
  linear_forward(ctx, matrix(0), matrix(1), matrix(2));
  copy_to_host(ctx, matrix(2), values.data());
  return values;
}

TEST_F(CudaSharedChoices, ALargeGemmIsTimedByRankZeroAlone) {
  const std::string root = ::testing::TempDir() + "shared_choices";
  std::filesystem::remove_all(root);
  Told told;
  const auto first = multiply(told, root + "/rank0");
  EXPECT_EQ(first[0], 1024.0f);
  ASSERT_EQ(told.told.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(root + "/rank0"));

  told.leads = false;
  told.asked = 0;
  EXPECT_EQ(multiply(told, root + "/rank1"), first);
  EXPECT_EQ(told.asked, 1);
  EXPECT_FALSE(std::filesystem::exists(root + "/rank1")) << "it timed the GEMM itself";

  // What rank 0 says of another GPU is not taken.
  for (auto& [what, choice] : told.told) choice = "another GPU" + choice.substr(choice.find('\n'));
  EXPECT_EQ(multiply(told, root + "/rank2"), first);
  EXPECT_TRUE(std::filesystem::exists(root + "/rank2"));
}

}  // namespace
}  // namespace ingot::test
