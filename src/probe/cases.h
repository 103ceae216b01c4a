// The cases of each op, one source a row: cases_<op>.cpp. op_cases(), op_large_cases() and
// op_bench_cases() join them.
#pragma once

#include <vector>

#include "ops/rope.h"
#include "probe/op_case.h"

namespace ingot {

// Tables for heads of D in `dtype`, made in the workspace, and the bytes they take there.
RopeInput take_rope_tables(Context& ctx, DType dtype, int64_t context, int64_t D,
                           const RopeFrequencies& frequencies = {});
int64_t rope_tables_bytes(int64_t context, int64_t D);

std::vector<OpCase> matmul_cases();
std::vector<OpCase> embedding_cases();
std::vector<OpCase> rms_norm_cases();
std::vector<OpCase> rope_cases();
std::vector<OpCase> attention_cases();
std::vector<OpCase> activation_cases();
std::vector<OpCase> fused_linear_cases();
std::vector<OpCase> lm_head_cases();
std::vector<OpCase> adamw_cases();
std::vector<OpCase> muon_cases();
std::vector<OpCase> reduce_cases();

std::vector<OpCase> matmul_large_cases();
std::vector<OpCase> embedding_large_cases();
std::vector<OpCase> rms_norm_large_cases();
std::vector<OpCase> rope_large_cases();
std::vector<OpCase> attention_large_cases();
std::vector<OpCase> activation_large_cases();
std::vector<OpCase> fused_linear_large_cases();
std::vector<OpCase> lm_head_large_cases();
std::vector<OpCase> adamw_large_cases();
std::vector<OpCase> muon_large_cases();
std::vector<OpCase> reduce_large_cases();

// Shapes of one training step, the bench's yardstick.
struct BenchShape {
  DType dtype = DType::F32;
  int64_t B = 0, T = 0, C = 0, H = 0, D = 0, F = 0, V = 0;
  int64_t loss_chunk = 0;  // tokens at a time in the head
  int64_t flat = 0;        // elements of a flat buffer: optimizer, sums, casts
  int64_t N() const { return B * T; }
};

// llama_10m's on the CPU, llama_500m's on a GPU.
BenchShape bench_shape(Device device);

std::vector<OpCase> matmul_bench_cases(const BenchShape& s);
std::vector<OpCase> embedding_bench_cases(const BenchShape& s);
std::vector<OpCase> rms_norm_bench_cases(const BenchShape& s);
std::vector<OpCase> rope_bench_cases(const BenchShape& s);
std::vector<OpCase> attention_bench_cases(const BenchShape& s);
std::vector<OpCase> activation_bench_cases(const BenchShape& s);
std::vector<OpCase> fused_linear_bench_cases(const BenchShape& s);
std::vector<OpCase> fp8_bench_cases(const BenchShape& s);  // what rounds; products: step_limit.h
std::vector<OpCase> lm_head_bench_cases(const BenchShape& s);
std::vector<OpCase> adamw_bench_cases(const BenchShape& s);
std::vector<OpCase> muon_bench_cases(const BenchShape& s);
std::vector<OpCase> reduce_bench_cases(const BenchShape& s);

}  // namespace ingot
