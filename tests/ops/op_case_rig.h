// What the tests over all OpCases share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "probe/op_case.h"
#include "probe/op_run.h"
#include "support/tolerance.h"

namespace ingot {

inline void PrintTo(const OpCase& c, std::ostream* out) {
  *out << c.name;
}

namespace test {

inline std::string case_name(const ::testing::TestParamInfo<OpCase>& info) {
  return info.param.name;
}

inline bool supports(const OpCase& c, DType dtype) {
  return std::ranges::find(c.dtypes, dtype) != c.dtypes.end();
}

// Outputs and gradients.
inline std::vector<std::string> result_names(const OpRun& run) {
  std::vector<std::string> names = run.output_names();
  std::ranges::copy(run.gradient_names(), std::back_inserter(names));
  return names;
}

inline void run_both(OpRun& run) {
  run.forward();
  run.backward();
}

// Two almost equal numbers may round to 8 bits apart.
inline double tolerance_of_result(const OpRun& run, std::string_view name, double tolerance) {
  const DType stored = run.tensors().find(name)->second.dtype;
  return size_of(stored) == 1 ? std::max(tolerance, tolerance_of(stored)) : tolerance;
}

inline void expect_close(const OpRun& got, const OpRun& want, double tolerance) {
  for (const std::string& name : result_names(want))
    EXPECT_LE(relative_error(got.values(name), want.values(name)),
              tolerance_of_result(want, name, tolerance))
        << name;
}
inline void expect_close(const OpRun& got, const OpRun& want, DType tolerance) {
  expect_close(got, want, tolerance_of(tolerance));
}

inline bool is_attention(const OpCase& c) {
  return c.op == "attention" || c.op == "attention_rope";
}

// What a GPU may be off by. cuDNN rounds the softmax and its gradient to 16 bits before it sums
// their products over the whole sequence; and a rotation hands the error of a pair's larger number
// on to the smaller one.
inline double gpu_tolerance(const OpCase& c, DType dtype) {
  const double rounded = is_attention(c) && dtype == DType::BF16 ? 2 : 1;
  const double turned = c.op == "attention_rope" ? 2 : 1;
  return tolerance_of(dtype) * rounded * turned;
}

inline void expect_equal_bits(const OpRun& got, const OpRun& want) {
  for (const std::string& name : result_names(want))
    EXPECT_TRUE(got.contents(name) == want.contents(name)) << name;
}

}  // namespace test
}  // namespace ingot
