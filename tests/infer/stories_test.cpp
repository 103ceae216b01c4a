#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "checkpoint/models/import_model.h"
#include "core/device/context.h"
#include "core/error/error.h"
#include "infer/reply.h"
#include "support/source_path.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

class Stories : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path weights = testing_support::source_path("../shared/data/weights");
    if (!fs::exists(weights / "stories260K.bin")) GTEST_SKIP() << "needs ../shared/data/weights";
    // Tests run beside each other as processes: each has a folder of its own.
    dir_ = fs::path(::testing::TempDir()) / ("ingot_stories_" + std::to_string(::getpid()));
    fs::remove_all(dir_);
    import_model(*posix_storage(),
                 *open_llama2c_model(posix_storage(), (weights / "stories260K.bin").string()),
                 (weights / "tok512.bin").string(), dir_.string());
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::vector<int32_t> generate(int threads, const std::string& prompt, int64_t tokens,
                                const SamplingOptions& sampling, std::string* text = nullptr) {
    ThreadPool pool(threads);
    Context ctx;
    ctx.pool = &pool;
    LoadedModel model(ctx, posix_storage(), dir_.string(), {});
    const Reply reply = write_text(model, prompt, tokens, sampling);
    if (text) *text = reply.text;
    return reply.ids;
  }

  fs::path dir_;
};

SamplingOptions greedy() {
  SamplingOptions sampling;
  sampling.temperature = 0;
  return sampling;
}

TEST_F(Stories, GreedyTextIsTheKnownOne) {
  std::string text;
  const auto ids = generate(2, "", 200, greedy(), &text);
  const std::vector<int32_t> known = {403, 407, 261, 378, 432, 383, 286, 261, 376, 298,
                                      315, 421, 395, 317, 426, 338, 401, 396, 267, 337};
  ASSERT_EQ(ids.size(), 200u);
  EXPECT_EQ(std::vector<int32_t>(ids.begin(), ids.begin() + 20), known);
  EXPECT_TRUE(text.starts_with("Once upon a time, there was a little girl named Lily. She loved"))
      << text;
  EXPECT_TRUE(text.ends_with("Lily didn't want to help her mom, so she")) << text;
}

TEST_F(Stories, TextDependsOnTheSeedAndOnNothingElse) {
  SamplingOptions sampling;
  sampling.temperature = 0.9;
  const auto first = generate(1, "One day", 60, sampling);
  EXPECT_EQ(generate(2, "One day", 60, sampling), first);
  sampling.seed = 99;
  EXPECT_NE(generate(1, "One day", 60, sampling), first);
}

TEST_F(Stories, ATextEndsAtBos) {
  EXPECT_EQ(generate(1, "Once", 100000, greedy()).size(), 344u);
}

}  // namespace
}  // namespace ingot
