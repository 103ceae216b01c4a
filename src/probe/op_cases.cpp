#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "probe/cases.h"

namespace ingot {
namespace {

std::vector<OpCase> joined(std::initializer_list<std::vector<OpCase>> lists) {
  std::vector<OpCase> all;
  for (const std::vector<OpCase>& list : lists) std::ranges::copy(list, std::back_inserter(all));
  return all;
}

}  // namespace

std::vector<OpCase> op_cases() {
  return joined({matmul_cases(), embedding_cases(), rms_norm_cases(), rope_cases(),
                 attention_cases(), activation_cases(), fused_linear_cases(), lm_head_cases(),
                 adamw_cases(), muon_cases(), reduce_cases()});
}

std::vector<OpCase> op_large_cases() {
  return joined({matmul_large_cases(), embedding_large_cases(), rms_norm_large_cases(),
                 rope_large_cases(), attention_large_cases(), activation_large_cases(),
                 fused_linear_large_cases(), lm_head_large_cases(), adamw_large_cases(),
                 muon_large_cases(), reduce_large_cases()});
}

DType bench_dtype(Device device) {
  return device.kind == DeviceKind::Cpu ? DType::F32 : DType::BF16;
}

BenchShape bench_shape(Device device) {
  BenchShape s{.dtype = bench_dtype(device)};
  if (device.kind == DeviceKind::Cpu) {
    s.B = 8, s.T = 512, s.C = 256, s.H = 8, s.D = 32, s.F = 768, s.V = 8192;
    s.loss_chunk = 512, s.flat = int64_t{4} << 20;
  } else {
    s.B = 32, s.T = 2048, s.C = 1280, s.H = 20, s.D = 64, s.F = 3456, s.V = 32000;
    s.loss_chunk = 8192, s.flat = int64_t{64} << 20;
  }
  return s;
}

std::vector<OpCase> op_bench_cases(Device device) {
  const BenchShape s = bench_shape(device);
  std::vector<OpCase> cases =
      joined({matmul_bench_cases(s), embedding_bench_cases(s), rms_norm_bench_cases(s),
              rope_bench_cases(s), attention_bench_cases(s), activation_bench_cases(s),
              fused_linear_bench_cases(s), lm_head_bench_cases(s), adamw_bench_cases(s),
              muon_bench_cases(s), reduce_bench_cases(s)});
  // The CPU only imitates 8 bits.
  return device.kind == DeviceKind::Cpu ? cases : joined({cases, fp8_bench_cases(s)});
}

std::vector<std::string> op_names(const std::vector<OpCase>& cases) {
  std::vector<std::string> names;
  for (const OpCase& c : cases)
    if (std::ranges::find(names, c.op) == names.end()) names.push_back(c.op);
  return names;
}

std::string op_support_page() {
  constexpr DType kColumns[] = {DType::F64, DType::F32, DType::BF16};
  std::string page =
      "# What runs where\n\n"
      "Generated from the op cases in `src/probe`; a test keeps this page equal to them. cpu: "
      "generic, AVX2 and\nAVX-512, chosen at run time; cuda: what the GPU tests run in.\n\n"
      "| op | backward | f64 | f32 | bf16 | cases |\n|---|---|---|---|---|---|\n";
  const std::vector<OpCase> cases = op_cases();
  for (const std::string& op : op_names(cases)) {
    bool has_backward = false;
    std::vector<DType> dtypes;
    int num_cases = 0;
    for (const OpCase& c : cases) {
      if (c.op != op) continue;
      has_backward |= static_cast<bool>(c.backward);
      dtypes.insert(dtypes.end(), c.dtypes.begin(), c.dtypes.end());
      ++num_cases;
    }
    page += fmt::format("| {} | {} |", op, has_backward ? "cpu, cuda" : "–");
    for (DType column : kColumns) {
      const bool there = std::ranges::find(dtypes, column) != dtypes.end();
      const char* both = column == DType::F64 ? " cpu |" : " cpu, cuda |";
      page += there ? both : " – |";
    }
    page += fmt::format(" {} |\n", num_cases);
  }
  return page;
}

}  // namespace ingot
