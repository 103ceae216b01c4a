// One case of one op. From it come: analytic ≡ finite-difference gradient, agreement with PyTorch,
// equality over ISAs and thread counts, guard bytes, a roofline bench row, a row of the generated
// support table and, with a second backend, CPU ≡ CUDA.
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
  enum class Fill {
    Normal,   // mean 0, standard deviation `scale`
    Uniform,  // [0, scale)
    Tokens,   // whole numbers in [0, scale)
    Ones,     // all `scale`
  };

  std::string name = {};
  Shape shape = {};
  Fill fill = Fill::Normal;
  double scale = 1.0;
  bool differentiable = true;       // gets a gradient named "d." + name; never when integer
  bool integer = false;             // I32 instead of the case's float dtype
  bool wide = false;                // F32 even when the case runs in BF16
  bool wide_gradient = false;       // the gradient is F32 even when the case runs in BF16
  std::vector<double> values = {};  // exactly these, row-major, in place of `fill`
};

struct OpOutput {
  std::string name = {};
  Shape shape = {};
  bool differentiable = true;  // false: statistics such as rstd or lse, which backward reads but
                               // no loss goes through
  bool wide = false;           // F32 even when the case runs in BF16
};

using OpTensors = std::map<std::string, Tensor, std::less<>>;

struct OpCase {
  std::string op;    // "rms_norm"
  std::string name;  // unique: "rms_norm_residual_n6_c16"; golden files are named by it
  std::vector<OpInput> inputs;
  std::vector<OpOutput> outputs;
  // Reads inputs, writes outputs, all found by name.
  std::function<void(Context&, const OpTensors&)> forward;
  // Reads inputs, outputs and "d." + output; writes "d." + input. Every gradient is zeroed before.
  // Empty for an op without gradient.
  std::function<void(Context&, const OpTensors&)> backward;
  std::function<int64_t(const Context&, DType)> workspace_bytes;  // empty: none
  std::vector<DType> dtypes = {DType::F64, DType::F32, DType::BF16};
  // Work of forward and backward together, for the roofline; only bench cases need it. Memory
  // counts each tensor once for each pass that must read or write it.
  double flops = 0;
  double elements = 0;    // of tensors of the case's dtype
  double wide_bytes = 0;  // of tensors that are F32, or 8 bits wide, whatever that is
  double bytes(DType dtype) const {
    return elements * static_cast<double>(size_of(dtype)) + wide_bytes;
  }
};

// Small cases: gradient checks and goldens. At most a few hundred elements an input, since every
// element is perturbed; extents that are no multiple of a vector, so that tails are tested.
std::vector<OpCase> op_cases();
// Extents of training, where a GPU's vectorised paths run, yet small enough for a reference in F64
// on the CPU. No goldens.
std::vector<OpCase> op_large_cases();
// The shapes of a training step: llama_10m, B 8, T 512 on the CPU; llama_500m, B 32, T 2048 on a
// GPU.
std::vector<OpCase> op_bench_cases(Device device);
// What they and measure_peak_flops() run in: F32 on the CPU, BF16 on a GPU.
DType bench_dtype(Device device);

// The ops of the cases, each once, in order.
std::vector<std::string> op_names(const std::vector<OpCase>& cases);

// The page docs/op_support.md: op × dtype × backend, from op_cases().
std::string op_support_page();

}  // namespace ingot
