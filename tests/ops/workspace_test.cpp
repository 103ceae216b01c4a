// How much scratch ops ask for on a GPU, said without one.
#include <gtest/gtest.h>

#include "core/device/device_facts.h"
#include "ops/attention.h"
#include "ops/embedding.h"
#include "ops/fp8.h"
#include "ops/lm_head.h"
#include "ops/matmul.h"
#include "ops/rms_norm.h"

namespace ingot::test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
const DeviceFacts kH200 = *known_gpu("h200");

// cuDNN 9.19's own figures (docs/ops-cuda-attention.md) and the margin that it is given.
TEST(Workspace, CudnnsBackwardPassIsBoundedByItsFormula) {
  const auto bytes = [](int64_t B, int64_t T, int64_t H, int64_t G, int64_t D, bool deterministic) {
    return attention_workspace_bytes(known_gpu("a100").value(),
                                     {DType::BF16, B, T, T, H, G, D, deterministic});
  };
  EXPECT_EQ(bytes(32, 2048, 12, 12, 64, true), 806'092'800 + 16 * kMiB);
  EXPECT_EQ(bytes(8, 2048, 32, 8, 128, true), 604'504'064 + 16 * kMiB);
  EXPECT_EQ(bytes(8, 2048, 32, 8, 128, false), 538'968'064 + 16 * kMiB);
  EXPECT_EQ(bytes(1, 8192, 32, 8, 128, true), 553'779'200 + 16 * kMiB);
}

// cuDNN's deterministic backward stores the gradients of all scores; ours on Hopper does not.
TEST(Workspace, WholeRowsOnHopperReserveNothingByTheSquareOfTheirLength) {
  AttentionCalls calls{DType::BF16, 1, 8192, 8192, 32, 8, 64, true};
  const auto reserved = [&](const char* gpu, bool whole_rows) {
    calls.whole_rows = whole_rows;
    return attention_workspace_bytes(known_gpu(gpu).value(), calls);
  };
  EXPECT_LT(16 * reserved("h200", true), reserved("h200", false));
  EXPECT_EQ(reserved("a100", true), reserved("a100", false));
  // Two floats a query and head, the counters, and where order is free the sums of dq.
  calls = {DType::BF16, 32, 2048, 2048, 20, 20, 64, false, true};
  const int64_t floats = 32 * 20 * 2048 * 4;
  EXPECT_EQ(attention_workspace_bytes(kH200, calls), 2 * floats + 256 + 64 * floats);
}

TEST(Workspace, AttentionOfWideTypesTakesAFloatAQueryAndHead) {
  EXPECT_EQ(attention_workspace_bytes(kH200, {DType::F32, 2, 512, 512, 4, 4, 64, true}),
            2 * 512 * 4 * 4);
}

TEST(Workspace, TheNormsPartsFollowTheNumberOfMultiprocessors) {
  EXPECT_EQ(rms_norm_backward_workspace_bytes(kH200, 65536, 1280), 4 * 132 * 1280 * 8);
  EXPECT_EQ(rms_norm_backward_workspace_bytes(*known_gpu("a100"), 65536, 1280), 4 * 108 * 1280 * 8);
  EXPECT_EQ(rms_norm_backward_workspace_bytes(kH200, 16, 1280), 16 * 1280 * 8);
}

TEST(Workspace, EveryOpAnswersForAGpuAndForTheCpu) {
  const DeviceFacts cpu;
  const int64_t gemms = 64 * kMiB;
  EXPECT_EQ(matmul_workspace_bytes(kH200), gemms);
  EXPECT_EQ(matmul_workspace_bytes(cpu), 0);
  // Three lists, cub's two and a quarter of one, its histograms.
  EXPECT_EQ(embedding_backward_workspace_bytes(kH200, 65536), 65536 * (3 + 2) * 4 + 65536 + 65536);
  EXPECT_EQ(embedding_backward_workspace_bytes(cpu, 65536), 0);
  EXPECT_EQ(fp8_workspace_bytes(kH200, DType::BF16, 4096, 1024), 0);
  EXPECT_GE(fp8_workspace_bytes(cpu, DType::BF16, 4096, 1024), 2 * 4096 * 1024);
  // Logits in bf16 there and in F32 here; rows of whole vectors there.
  EXPECT_EQ(lm_head_workspace_bytes(kH200, DType::BF16, 512, 32001), 512 * 32008 * 2 + gemms);
  EXPECT_EQ(lm_head_workspace_bytes(cpu, DType::BF16, 512, 32000), 512 * 32000 * 4);
  EXPECT_EQ(lm_head_fp8_workspace_bytes(kH200, DType::BF16, 512, 32000, 1024),
            512 * (32000 * 2 + 2 * 32000 + 2 * 1024) + 2 * 256 + gemms);
}

}  // namespace
}  // namespace ingot::test
