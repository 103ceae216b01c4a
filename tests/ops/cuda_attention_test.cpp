// The backward pass that Context::deterministic = false allows, which no OpCase takes, that the
// other one repeats itself, and batches larger than any OpCase.
#include <fmt/format.h>

#include <array>
#include <map>

#include "op_case_rig.h"
#include "ops/attention.h"
#include "ops/memory.h"
#include "ops/reduce.h"
#include "probe/operands.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

class CudaAttention : public OnGpu<::testing::Test> {
 protected:
  // Row b of the batch.
  static std::vector<double> row_of(const Tensor& tensor, int64_t b) {
    const Tensor row = tensor.slice(0, b, b + 1);
    Operands operands(gpu());
    const Tensor wide = operands.zeros(DType::F32, row.shape);
    cast(gpu(), row, wide);
    std::vector<float> values(static_cast<size_t>(wide.numel()));
    copy_to_host(gpu(), wide, values.data());
    return {values.begin(), values.end()};
  }
};

TEST_F(CudaAttention, TheFastBackwardAgreesWithDoubleOnTheCpu) {
  Context fast = gpu();
  fast.deterministic = false;
  for (const OpCase& c : op_large_cases()) {
    if (c.op != "attention") continue;
    SCOPED_TRACE(c.name);
    OpRun exact(c, DType::F64, DType::BF16, cpu());
    OpRun narrow(c, DType::BF16, DType::BF16, fast);
    exact.forward();
    narrow.forward();
    for (const std::string& name : exact.output_names())
      exact.set_values(name, narrow.values(name));
    exact.backward();
    narrow.backward();
    expect_close(narrow, exact, gpu_tolerance(c, DType::BF16));
    EXPECT_EQ(narrow.damage(), "");
  }
}

TEST_F(CudaAttention, TheDeterministicBackwardRepeatsBitForBit) {
  for (const OpCase& c : op_large_cases()) {
    if (c.op != "attention") continue;
    SCOPED_TRACE(c.name);
    OpRun run(c, DType::BF16, DType::BF16, gpu());
    run.forward();
    run.backward();
    std::map<std::string, std::vector<double>> first;
    for (const char* name : {"d.q", "d.k", "d.v"}) first[name] = run.values(name);
    for (int again = 0; again < 5; ++again) {
      run.backward();
      for (const auto& [name, values] : first) EXPECT_EQ(run.values(name), values) << name;
    }
  }
}

// dq's sums take a piece of the batch at a time: with 1 MiB a row of it, 1024 rows, then the rest.
TEST_F(CudaAttention, ABatchTakenInPiecesGivesWhatItsHalvesGive) {
  constexpr int64_t B = 1100, T = 512, H = 8, G = 4, D = 64;
  Operands operands(gpu());
  const auto random = [&](int64_t heads) { return operands.random(DType::BF16, {B, T, heads, D}); };
  const auto zeros = [&](int64_t heads) { return operands.zeros(DType::BF16, {B, T, heads, D}); };
  const Tensor q = random(H), k = random(G), v = random(G), out = random(H), dout = random(H);
  const Tensor lse = operands.random(DType::F32, {B, H, T});
  Context ctx =
      operands.with_workspace(attention_workspace_bytes(gpu(), DType::BF16, B, T, T, H, G, D));
  const auto backward = [&](int64_t begin, int64_t end, const auto& gradients) {
    const auto rows = [&](const Tensor& tensor) { return tensor.slice(0, begin, end); };
    attention_backward(ctx, rows(dout), rows(q), rows(k), rows(v), rows(out), rows(lse), {},
                       rows(gradients[0]), rows(gradients[1]), rows(gradients[2]));
  };
  const std::array<Tensor, 3> whole{zeros(H), zeros(G), zeros(G)};  // of q, k, v
  const std::array<Tensor, 3> halves{zeros(H), zeros(G), zeros(G)};
  for (const bool deterministic : {true, false}) {
    ctx.deterministic = deterministic;
    backward(0, B, whole);
    backward(0, B / 2, halves);
    backward(B / 2, B, halves);
    for (size_t i = 0; i < whole.size(); ++i)
      for (const int64_t b : {int64_t{0}, B / 2 - 1, B / 2, int64_t{1023}, int64_t{1024}, B - 1}) {
        SCOPED_TRACE(fmt::format("deterministic {}, gradient {}, row {}", deterministic, i, b));
        const std::vector<double> got = row_of(whole[i], b), want = row_of(halves[i], b);
        // Only dq is summed in any order, and rounded to bf16 then.
        EXPECT_LE(relative_error(got, want), deterministic || i > 0 ? 0.0 : 0x1p-8);
        EXPECT_GT(std::ranges::max(want), 0.0);
      }
  }
}

}  // namespace
}  // namespace ingot::test
