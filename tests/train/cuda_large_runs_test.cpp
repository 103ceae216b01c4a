// Whole runs at shapes that only the kernels of large models take: cuDNN's attention, our backward
// pass of it on Hopper, products with SwiGLU or rotation inside, tuned products.
#include <algorithm>

#include "feed/loader.h"
#include "plan/fit.h"
#include "support/cuda_train_fixture.h"
#include "train/start/run_data.h"

namespace ingot {
namespace {

using test::expect_close;
using test::Losses;
using test::Recorder;
using test::run;

namespace fs = std::filesystem;

class CudaLargeRuns : public test::CudaTrainFixture {
 protected:
  static constexpr int64_t kSteps = 8;

  // What the kernels ask for; a smaller shape would prove nothing here.
  void SetUp() override {
    CudaTrainFixture::SetUp();
    const RunConfig shape = config("shape", kSteps, large());
    const ModelConfig& model = shape.model;
    const int64_t B = shape.batch.micro_batch, T = shape.batch.seq;
    ASSERT_GE(B * model.heads * T * T * model.head_dim, int64_t{64} << 20);  // attention.cu
    ASSERT_EQ(model.head_dim, 64);                                           // hopper_attention.cu
    ASSERT_EQ(T % 128, 0);
    // fused_linear.cu and blas_lt.cpp, for the smallest product of a layer.
    ASSERT_GE(B * T * model.dim * std::min(model.dim, model.ffn), 100'000'000);
  }

  Overrides large(const Overrides& more = {}) const {
    Overrides all = {{"preset", "llama_quickstart"},
                     {"model.vocab", "272"},  // the bytes, and a multiple of 16 for fp8_head
                     {"batch.micro_batch", "4"},
                     {"batch.seq", "512"},
                     {"batch.tokens", "0"},
                     {"optim.lr", "1e-4"},  // at 3e-4 a step overshoots and blurs what is compared
                     {"system.cache_dir", (root_ / "cache").string()}};  // the same products in all
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // The run again, and stopped and resumed on the way, in steps of one micro-step and of two.
  void expect_equal_bits(const std::string& precision) const {
    for (const char* tokens : {"0", "4096"}) {
      const Overrides more = large({{"train.precision", precision}, {"batch.tokens", tokens}});
      EXPECT_EQ(losses_of_halves(std::string("halves") + tokens, kSteps, more),
                losses(std::string("whole") + tokens, kSteps, more))
          << tokens;
    }
    const fs::path cache = root_ / "cache";
    EXPECT_TRUE(fs::exists(cache) && !fs::is_empty(cache)) << "no product was tuned";
  }

  // The text in documents of one to fifteen lines: from a few tokens to nearly a row. So every row
  // has a border, wherever it begins.
  Overrides in_documents(Overrides more = {}) const {
    const fs::path folder = root_ / "document_texts";  // no run of these tests is called so
    fs::create_directories(folder);
    std::ifstream text(root_ / "text.txt");
    std::string line;
    for (int document = 0; text; ++document) {
      std::ofstream file(folder / fmt::format("{:04}.txt", document));
      for (int i = 0; i <= document * 7 % 15 && std::getline(text, line); ++i) file << line << "\n";
    }
    more.insert(more.begin(), {{"data.train", folder.string()}, {"train.document_mask", "true"}});
    return large(more);
  }
};

void expect_several_documents_a_row(const RunConfig& config, int64_t num_rows) {
  const RunData data = open_run_data(*posix_storage(), config);
  Batch batch;
  Loader(*data.train, /*document_mask=*/true).fill(0, num_rows, batch);
  for (int64_t row = 0; row < num_rows; ++row)
    EXPECT_GT(batch.document_start[static_cast<size_t>((row + 1) * batch.T - 1)], 0) << row;
}

// Equal losses would mean that the same kernels ran.
void expect_near_but_not_equal(const Losses& got, const Losses& other, double tolerance) {
  expect_close(got, other, tolerance);
  EXPECT_NE(got, other);
}

TEST_F(CudaLargeRuns, Bf16RepeatsAndResumesBitForBit) {
  expect_equal_bits("bf16");
}
TEST_F(CudaLargeRuns, Fp8RepeatsAndResumesBitForBit) {
  expect_equal_bits("fp8");
}

// Copies take as long as kernels here, and no micro-step waits for the last one's.
TEST_F(CudaLargeRuns, OffloadOverManyMicroStepsGivesTheSameLossesBitForBit) {
  const Overrides kept = large({{"batch.tokens", "16384"}});
  Overrides offloaded = kept;
  offloaded.push_back({"train.offload_layers", "4"});
  EXPECT_EQ(losses("offloaded", kSteps, offloaded), losses("kept", kSteps, kept));
}

// Without the mask the first loss would be another by 4e-3, without queries' gradients the eighth
// by 1e-3; bf16 accounts for 3e-4, last bits of gradients for 3e-5 (tried on the CPU).
TEST_F(CudaLargeRuns, Bf16OverDocumentsTracksFp32AndRepeatsBitForBit) {
  const Overrides bf16 = in_documents({{"train.precision", "bf16"}});
  const RunConfig shape = config("shape", kSteps, bf16);
  expect_several_documents_a_row(shape, kSteps * shape.batch.micro_batch);
  const Losses whole = losses("bf16", kSteps, bf16);
  expect_close(whole, losses("fp32", kSteps, in_documents({{"train.precision", "fp32"}})), 1e-3);
  EXPECT_EQ(losses_of_halves("halves", kSteps, bf16), whole);
}

TEST_F(CudaLargeRuns, FastAttentionTracksTheDeterministicOne) {
  const Overrides fast = {{"train.deterministic", "false"}};  // and bf16, as always on a GPU
  expect_near_but_not_equal(losses("fast", kSteps, large(fast)), losses("rows", kSteps, large()),
                            2e-4);
  expect_near_but_not_equal(losses("fast_documents", kSteps, in_documents(fast)),
                            losses("documents", kSteps, in_documents()), 2e-4);
}

TEST_F(CudaLargeRuns, Fp8WithTheHeadInItTracksFp8AndBf16) {
  const Losses with_head =
      losses("head", kSteps, large({{"train.precision", "fp8"}, {"train.fp8_head", "true"}}));
  for (const char* precision : {"fp8", "bf16"})
    expect_near_but_not_equal(
        with_head, losses(precision, kSteps, large({{"train.precision", precision}})), 1e-2);
}

// What the GPU has free after each step.
struct MemoryWatch : Recorder {
  RunFacts facts;
  std::map<int64_t, int64_t> free_bytes;
  void begin(const RunFacts& of_run) override { facts = of_run; }
  void take(const RunRecord& record) override {
    if (const auto* report = std::get_if<StepReport>(&record))
      free_bytes[report->step] = available_memory(Device::cuda(0));
  }
};

class CudaMemory : public CudaLargeRuns {};  // run by itself: all that is taken must be its own

TEST_F(CudaMemory, IsWhatTheTableSaysAndGrowsNoMoreAfterThreeSteps) {
  for (const auto& [precision, tokens] :
       {std::pair{"bf16", "0"}, std::pair{"bf16", "32768"}, std::pair{"fp8", "0"}}) {
    const std::string name = std::string(precision) + "_" + tokens;
    const int64_t before = available_memory(gpu().device);
    MemoryWatch watch;
    run(config(name, 12,
               large({{"system.device", "cuda"},
                      {"train.precision", precision},
                      {"batch.micro_batch", "32"},
                      {"batch.tokens", tokens}})),
        watch);
    const int64_t predicted = watch.facts.predicted_bytes;
    const int64_t taken = before - watch.free_bytes.at(3);
    EXPECT_EQ(watch.facts.start.bytes, predicted) << name;
    EXPECT_GE(taken, predicted) << name;
    EXPECT_LE(taken, predicted + kCudaReserveBytes) << name;
    for (int64_t step = 4; step <= 12; ++step)
      EXPECT_EQ(watch.free_bytes.at(step), watch.free_bytes.at(3)) << name << " step " << step;
  }
}

}  // namespace
}  // namespace ingot
