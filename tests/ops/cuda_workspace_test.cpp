// What is said of a GPU without asking it, held against the GPU.
#include "ops/embedding.h"
#include "probe/operands.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

class CudaWorkspace : public OnGpu<::testing::Test> {};

TEST_F(CudaWorkspace, TheTableOfKnownGpusSaysWhatTheDriverSays) {
  const DeviceFacts& here = gpu().facts;
  const auto known = known_gpu(here.name);
  if (!known) return;  // a GPU of no row
  EXPECT_EQ(known->major, here.major);
  EXPECT_EQ(known->minor, here.minor);
  EXPECT_EQ(known->num_sms, here.num_sms);
  EXPECT_EQ(known->l2_bytes, here.l2_bytes);
  // What the driver keeps for itself is not the program's.
  EXPECT_GE(known->memory_bytes, here.memory_bytes);
  EXPECT_LT(static_cast<double>(known->memory_bytes),
            1.02 * static_cast<double>(here.memory_bytes));
}

// Beyond cub's single tile, at a tile's edges, and as large as a batch gets.
TEST_F(CudaWorkspace, SortingTokensKeepsToItsBound) {
  constexpr int64_t V = 128, C = 8;
  for (const int64_t N : {1, 4'096, 4'097, 65'536, 1'000'003, 1 << 24}) {
    Operands operands(gpu());
    Context ctx = operands.with_workspace(embedding_backward_workspace_bytes(gpu().facts, N));
    embedding_backward(ctx, operands.zeros(DType::I32, {N}), operands.zeros(DType::BF16, {N, C}),
                       operands.zeros(DType::F32, {V, C}));
    synchronize(ctx);
  }
}

}  // namespace
}  // namespace ingot::test
