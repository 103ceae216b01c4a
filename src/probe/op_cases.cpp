#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "probe/op_case.h"

namespace ingot {

// INGOT_OP_CASES(name) for each source of src/probe/cases, listed by CMake.
#define INGOT_OP_CASES(name) OpCaseSet name##_cases();
#include <op_list.inc>
#undef INGOT_OP_CASES

namespace {

std::vector<OpCaseSet> all_sets() {
#define INGOT_OP_CASES(name) name##_cases(),
  return {
#include <op_list.inc>
  };
#undef INGOT_OP_CASES
}

template <class Cases>
std::vector<OpCase> joined(const Cases& cases_of) {
  std::vector<OpCase> all;
  for (const OpCaseSet& set : all_sets()) std::ranges::copy(cases_of(set), std::back_inserter(all));
  return all;
}

// llama_10m's on the CPU, llama_500m's on a GPU.
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

// What the tests of an op's small cases run in.
struct Support {
  std::vector<DType> cpu, cuda;
  std::vector<std::string> backward;  // backends
  int num_cases = 0;

  void add(const OpCase& c) {
    cpu.insert(cpu.end(), c.dtypes.begin(), c.dtypes.end());
    cuda.insert(cuda.end(), c.cuda_dtypes.begin(), c.cuda_dtypes.end());
    if (c.backward) backward = backends(!c.dtypes.empty(), !c.cuda_dtypes.empty());
    ++num_cases;
  }
  static std::vector<std::string> backends(bool on_cpu, bool on_cuda) {
    std::vector<std::string> names;
    if (on_cpu) names.emplace_back("cpu");
    if (on_cuda) names.emplace_back("cuda");
    return names;
  }
  std::vector<std::string> backends_of(DType dtype) const {
    return backends(std::ranges::find(cpu, dtype) != cpu.end(),
                    std::ranges::find(cuda, dtype) != cuda.end());
  }
};

std::string cell(const std::vector<std::string>& backends) {
  return backends.empty() ? "–" : fmt::format("{}", fmt::join(backends, ", "));
}

}  // namespace

std::vector<OpCase> op_cases() {
  return joined([](const OpCaseSet& set) { return set.small; });
}

std::vector<OpCase> op_large_cases() {
  return joined([](const OpCaseSet& set) { return set.large; });
}

DType bench_dtype(Device device) {
  return device.kind == DeviceKind::Cpu ? DType::F32 : DType::BF16;
}

std::vector<OpCase> op_bench_cases(Device device) {
  const BenchShape shape = bench_shape(device);
  return joined(
      [&](const OpCaseSet& set) { return set.bench ? set.bench(shape) : std::vector<OpCase>(); });
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
      "Generated from the op cases in `src/probe/cases`; a test keeps this page equal to them. "
      "cpu: "
      "generic, AVX2 and\nAVX-512, chosen at run time. An op stands under the types its tests run "
      "in "
      "on that backend; what rounds to 8 bits\n(`fp8_…`) under those it rounds from.\n\n"
      "| op | backward | f64 | f32 | bf16 | cases |\n|---|---|---|---|---|---|\n";
  const std::vector<OpCase> cases = op_cases();
  for (const std::string& op : op_names(cases)) {
    Support support;
    for (const OpCase& c : cases)
      if (c.op == op) support.add(c);
    page += fmt::format("| {} | {} |", op, cell(support.backward));
    for (DType column : kColumns) page += fmt::format(" {} |", cell(support.backends_of(column)));
    page += fmt::format(" {} |\n", support.num_cases);
  }
  return page;
}

}  // namespace ingot
