// Every promise an OpCase carries, for every case: the list of cases is the list of tests.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/device/thread_pool.h"
#include "op_case_rig.h"
#include "support/build_folder.h"
#include "support/forced_isa.h"
#include "support/safetensors_file.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

ThreadPool& pool() {
  static ThreadPool two(2);
  return two;
}

Context host(ThreadPool& threads = pool()) {
  Context ctx;
  ctx.pool = &threads;
  return ctx;
}

class OpCases : public ::testing::TestWithParam<OpCase> {};

// Σ cotangent · output, the scalar whose gradient backward computes.
double objective(OpRun& run, const OpCase& c) {
  run.forward_only();
  double sum = 0.0;
  for (const OpOutput& output : c.outputs) {
    if (!output.differentiable) continue;
    const std::vector<double> values = run.values(output.name);
    const std::vector<double> cotangent = run.values("d." + output.name);
    for (size_t i = 0; i < values.size(); ++i) sum += values[i] * cotangent[i];
  }
  return sum;
}

TEST_P(OpCases, GradientEqualsFiniteDifferences) {
  const OpCase& c = GetParam();
  if (!c.backward || !supports(c, DType::F64)) return;
  OpRun run(c, DType::F64, DType::F64, host());
  run_both(run);
  for (const std::string& gradient : run.gradient_names()) {
    const std::string name = gradient.substr(2);
    const std::vector<double> analytic = run.values(gradient);
    std::vector<double> values = run.values(name);
    std::vector<double> numeric(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const double original = values[i];
      const double step = 1e-5 * std::max(1.0, std::abs(original));
      double sides[2];
      for (int side = 0; side < 2; ++side) {
        values[i] = side == 0 ? original + step : original - step;
        run.set_values(name, values);
        sides[side] = objective(run, c);
      }
      values[i] = original;
      run.set_values(name, values);
      numeric[i] = (sides[0] - sides[1]) / (2.0 * step);
    }
    EXPECT_LE(relative_error(analytic, numeric), tolerance_of(DType::F64)) << gradient;
  }
}

TEST_P(OpCases, NarrowTypesAgreeWithDouble) {
  const OpCase& c = GetParam();
  if (!supports(c, DType::F64)) return;
  for (DType dtype : {DType::F32, DType::BF16}) {
    if (!supports(c, dtype)) continue;
    SCOPED_TRACE(name_of(dtype));
    OpRun narrow(c, dtype, dtype, host());
    OpRun exact(c, DType::F64, dtype, host());
    run_both(narrow);
    run_both(exact);
    expect_close(narrow, exact, dtype);
  }
}

void expect_reference(const OpCase& c) {
  for (DType dtype : c.dtypes) {
    SCOPED_TRACE(name_of(dtype));
    OpRun run(c, dtype, dtype, host());
    run.forward();
    OpValues inputs;
    for (const OpInput& input : c.inputs) inputs[input.name] = run.values(input.name);
    const OpValues wanted = c.reference(inputs);
    EXPECT_FALSE(wanted.empty());
    for (const auto& [name, values] : wanted)
      EXPECT_LE(relative_error(run.values(name), values),
                tolerance_of_result(run, name, tolerance_of(dtype)))
          << name;
  }
}

TEST_P(OpCases, AgreesWithPyTorchOrItsOwnReference) {
  const OpCase& c = GetParam();
  if (c.reference) return expect_reference(c);
  const std::string path =
      testing_support::source_path("tests/golden/ops/") + c.name + ".safetensors";
  ASSERT_TRUE(std::filesystem::exists(path))
      << path
      << " is missing: give the case a reference, or add it to "
         "tools/goldens/make_op_goldens.py and run that";
  const SafetensorsFile golden(path);
  auto read = [&](const std::string& name) {
    const std::vector<float> floats = golden.values<float>(name);
    return std::vector<double>(floats.begin(), floats.end());
  };
  for (DType dtype : {DType::F64, DType::F32}) {
    SCOPED_TRACE(name_of(dtype));
    OpRun run(c, dtype, dtype, host());
    for (const OpInput& input : c.inputs) run.set_values(input.name, read(input.name));
    for (const OpOutput& output : c.outputs)
      if (c.backward && output.differentiable)
        run.set_values("d." + output.name, read("d." + output.name));
    run_both(run);
    for (const std::string& name : result_names(run)) {
      // Statistics are ours alone; what PyTorch computes is all there.
      if (!golden.has(name)) continue;
      // The file holds floats, so even a run in double agrees to a float's digits only.
      EXPECT_LE(relative_error(run.values(name), read(name)), tolerance_of(DType::F32)) << name;
    }
  }
}

TEST_P(OpCases, NothingOutsideOutputsAndGradientsIsWritten) {
  const OpCase& c = GetParam();
  for (cpu::Isa isa : runnable_isas()) {
    const ForcedIsa forced(isa);
    for (DType dtype : c.dtypes) {
      OpRun run(c, dtype, dtype, host());
      run_both(run);
      EXPECT_EQ(run.damage(), "") << name_of(isa) << " " << name_of(dtype);
    }
  }
}

TEST_P(OpCases, EveryIsaAgrees) {
  const OpCase& c = GetParam();
  for (DType dtype : c.dtypes) {
    OpRun generic(c, dtype, dtype, host());
    {
      const ForcedIsa forced(cpu::Isa::Generic);
      run_both(generic);
    }
    for (cpu::Isa isa : runnable_isas()) {
      SCOPED_TRACE(std::string(cpu::name_of(isa)) + " " + std::string(name_of(dtype)));
      const ForcedIsa forced(isa);
      OpRun run(c, dtype, dtype, host());
      run_both(run);
      expect_close(run, generic, dtype);
    }
  }
}

void expect_equal_bits_for_any_thread_count(const OpCase& c, DType dtype) {
  ThreadPool one(1), three(3);
  OpRun alone(c, dtype, dtype, host(one)), shared(c, dtype, dtype, host(three));
  run_both(alone);
  run_both(shared);
  expect_equal_bits(shared, alone);
}

TEST_P(OpCases, ThreadCountDoesNotChangeABit) {
  for (DType dtype : GetParam().dtypes) expect_equal_bits_for_any_thread_count(GetParam(), dtype);
}

// The bench's shapes too, where there are more chunks than threads; the products, which take
// seconds there, have tests of their own.
class TrainingShapes : public ::testing::TestWithParam<OpCase> {};

TEST_P(TrainingShapes, ThreadCountDoesNotChangeABit) {
  expect_equal_bits_for_any_thread_count(GetParam(), DType::F32);
}

std::vector<OpCase> training_shapes() {
  constexpr double kMostFlops = 1e8;
  std::vector<OpCase> bench = op_bench_cases(Device::cpu()), cases;
  for (OpCase& c : bench)
    if (c.flops < kMostFlops) cases.push_back(std::move(c));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ops, OpCases, ::testing::ValuesIn(op_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Ops, TrainingShapes, ::testing::ValuesIn(training_shapes()), case_name);

TEST(OpSupport, CommittedPageIsTheGeneratedOne) {
  const std::string page = testing_support::source_path("docs/op_support.md");
  std::ifstream file(page);
  const std::string committed(std::istreambuf_iterator<char>(file), {});
  const std::string generated = testing_support::build_folder() / "op_support.md";
  std::ofstream(generated) << op_support_page();
  EXPECT_EQ(committed, op_support_page())
      << "refresh it: cp " << generated << " docs/op_support.md";
}

TEST(OpRun, NoticesAWriteBeyondABufferAndIntoAnInput) {
  OpCase c;
  c.name = "writes_astray";
  c.inputs = {{.name = "x", .shape = {5}, .differentiable = false}};
  c.outputs = {{.name = "y", .shape = {5}}};
  auto damage_of = [&](const char* tensor, int64_t index) {
    c.forward = [=](Context&, const OpTensors& t) { t.at(tensor).as<float>()[index] = 1.0f; };
    OpRun run(c, DType::F32, DType::F32, host());
    run.forward();
    return run.damage();
  };
  EXPECT_EQ(damage_of("y", 4), "");
  EXPECT_EQ(damage_of("y", 5), "y");
  EXPECT_EQ(damage_of("x", 2), "x");
}

}  // namespace
}  // namespace ingot::test
