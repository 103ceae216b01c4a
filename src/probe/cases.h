// The cases of each op, one source a row: cases_<op>.cpp. op_cases() and op_bench_cases() join
// them.
#pragma once

#include <vector>

#include "probe/op_case.h"

namespace ingot {

std::vector<OpCase> matmul_cases();
std::vector<OpCase> embedding_cases();
std::vector<OpCase> rms_norm_cases();
std::vector<OpCase> rope_cases();
std::vector<OpCase> attention_cases();
std::vector<OpCase> activation_cases();
std::vector<OpCase> lm_head_cases();
std::vector<OpCase> adamw_cases();
std::vector<OpCase> reduce_cases();

std::vector<OpCase> matmul_bench_cases();
std::vector<OpCase> embedding_bench_cases();
std::vector<OpCase> rms_norm_bench_cases();
std::vector<OpCase> rope_bench_cases();
std::vector<OpCase> attention_bench_cases();
std::vector<OpCase> activation_bench_cases();
std::vector<OpCase> lm_head_bench_cases();
std::vector<OpCase> adamw_bench_cases();
std::vector<OpCase> reduce_bench_cases();

// Shapes of one llama_10m step, the bench's yardstick.
struct BenchShape {
  static constexpr int64_t B = 8, T = 512, N = B * T, C = 256, H = 8, D = 32, F = 768, V = 8192;
};

}  // namespace ingot
