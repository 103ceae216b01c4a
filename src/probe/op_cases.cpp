#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "probe/cases.h"

namespace ingot {
namespace {

using CaseList = std::vector<OpCase> (*)();

std::vector<OpCase> joined(std::initializer_list<CaseList> lists) {
  std::vector<OpCase> all;
  for (CaseList list : lists) std::ranges::move(list(), std::back_inserter(all));
  return all;
}

}  // namespace

std::vector<OpCase> op_cases() {
  return joined({matmul_cases, embedding_cases, rms_norm_cases, rope_cases, attention_cases,
                 activation_cases, lm_head_cases, adamw_cases, reduce_cases});
}

std::vector<OpCase> op_bench_cases() {
  return joined({matmul_bench_cases, embedding_bench_cases, rms_norm_bench_cases, rope_bench_cases,
                 attention_bench_cases, activation_bench_cases, lm_head_bench_cases,
                 adamw_bench_cases, reduce_bench_cases});
}

std::string op_support_page() {
  constexpr DType kColumns[] = {DType::F64, DType::F32, DType::BF16};
  std::string page =
      "# What runs where\n\n"
      "Generated from the op cases in `src/probe`; a test keeps this page equal to them. Backend: "
      "CPU (generic, AVX2 and AVX-512, chosen at run time).\n\n"
      "| op | backward | f64 | f32 | bf16 | cases |\n|---|---|---|---|---|---|\n";
  const std::vector<OpCase> cases = op_cases();
  std::vector<std::string> ops;
  for (const OpCase& c : cases)
    if (std::ranges::find(ops, c.op) == ops.end()) ops.push_back(c.op);
  for (const std::string& op : ops) {
    bool has_backward = false;
    std::vector<DType> dtypes;
    int num_cases = 0;
    for (const OpCase& c : cases) {
      if (c.op != op) continue;
      has_backward |= static_cast<bool>(c.backward);
      dtypes.insert(dtypes.end(), c.dtypes.begin(), c.dtypes.end());
      ++num_cases;
    }
    page += fmt::format("| {} | {} |", op, has_backward ? "cpu" : "–");
    for (DType column : kColumns)
      page += std::ranges::find(dtypes, column) == dtypes.end() ? " – |" : " cpu |";
    page += fmt::format(" {} |\n", num_cases);
  }
  return page;
}

}  // namespace ingot
