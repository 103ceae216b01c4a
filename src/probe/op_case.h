// One case of one op. From it come: CPU ≡ CUDA, analytic ≡ finite-difference gradient, agreement
// with PyTorch, a roofline bench row and a row of the generated support table.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/tensor.h"

namespace ingot {

// A named input of the op, filled from the case's fixed seed.
struct OpInput {
  std::string name;
  Shape shape;
  enum class Fill { Normal, Uniform, Tokens, Ones } fill = Fill::Normal;
  double scale = 1.0;          // Normal: standard deviation; Tokens: ids in [0, scale)
  bool differentiable = true;  // gets a gradient named "d." + name
  bool integer = false;        // I32 instead of the case's float dtype
};

struct OpOutput {
  std::string name;
  Shape shape;
  bool differentiable =
      true;  // false: statistics such as rstd or lse, given to backward but not a loss path
  bool wide = false;  // F32 even when the case runs in BF16
};

using OpTensors = std::map<std::string, Tensor, std::less<>>;

struct OpCase {
  std::string op;    // "rms_norm"
  std::string name;  // "rms_norm_residual_n6_c16"
  std::vector<OpInput> inputs;
  std::vector<OpOutput> outputs;
  // Reads inputs, writes outputs, all found by name.
  std::function<void(Context&, const OpTensors&)> forward;
  // Reads inputs, outputs and "d." + output; writes "d." + input. Every gradient is zeroed before.
  std::function<void(Context&, const OpTensors&)> backward;
  std::function<int64_t(DType, int num_threads)> workspace_bytes;
  // Work of forward and backward together, for the roofline.
  double flops = 0;
  double bytes = 0;
};

std::vector<OpCase> op_cases();        // small: gradient checks and goldens
std::vector<OpCase> op_bench_cases();  // the shapes of a training step

}  // namespace ingot
