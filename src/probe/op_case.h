// One case of one op. It drives all checks of the op: analytic against finite-difference gradient,
// agreement with PyTorch, equality over ISAs and thread counts, guard bytes, a roofline bench row,
// a row of the generated support table and, with a GPU, CPU against CUDA.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

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
  bool differentiable = true;       // has a gradient named "d." + name; never with a fixed type
  std::optional<DType> type = {};   // fixed type, whatever the case's dtype
  bool wide = false;                // F32 even if the case runs in BF16
  bool wide_gradient = false;       // its gradient is F32 even if the case runs in BF16
  std::vector<double> values = {};  // exact values, row-major, instead of `fill`
};

struct OpOutput {
  std::string name = {};
  Shape shape = {};
  bool differentiable = true;  // false: statistics such as rstd or lse, which backward reads but
                               // the loss does not depend on
  bool wide = false;           // F32 even if the case runs in BF16
  std::optional<DType> type = {};  // fixed type; not that of its cotangent
};

using OpTensors = std::map<std::string, Tensor, std::less<>>;
using OpValues = std::map<std::string, std::vector<double>, std::less<>>;

struct OpCase {
  std::string op;    // "rms_norm"
  std::string name;  // unique: "rms_norm_residual_n6_c16"; names golden files
  std::vector<OpInput> inputs;
  std::vector<OpOutput> outputs;
  // Reads inputs and writes outputs, found by name.
  std::function<void(Context&, const OpTensors&)> forward;
  // Reads inputs, outputs and "d." + output; writes "d." + input. Gradients are zeroed before.
  // Empty for an op without gradient.
  std::function<void(Context&, const OpTensors&)> backward;
  std::function<int64_t(const Context&, DType)> workspace_bytes;  // empty: none
  // The op in plain loops: outputs by name from inputs by name. Empty: a golden file has PyTorch's
  // results.
  std::function<OpValues(const OpValues&)> reference;
  // The dtypes that tests run it in, on the CPU and on a GPU; listed on the support page.
  std::vector<DType> dtypes = {DType::F64, DType::F32, DType::BF16};
  std::vector<DType> cuda_dtypes = {DType::F32, DType::BF16};
  // Work of forward and backward together, for the roofline of bench cases. Each tensor counts once
  // per pass that must read or write it.
  double flops = 0;
  double elements = 0;    // in tensors of the case's dtype
  double wide_bytes = 0;  // in tensors with a fixed width: F32 or 8 bits
  double bytes(DType dtype) const {
    return elements * static_cast<double>(size_of(dtype)) + wide_bytes;
  }
};

// The shapes of one training step, for the bench.
struct BenchShape {
  DType dtype = DType::F32;
  int64_t B = 0, T = 0, C = 0, H = 0, D = 0, F = 0, V = 0;
  int64_t loss_chunk = 0;  // tokens per chunk of the head
  int64_t flat = 0;        // elements of a flat buffer: optimizer, sums, casts
  int64_t N() const { return B * T; }
};

// The cases of one op or a few related ones. A source src/probe/cases/<name>.cpp defines OpCaseSet
// <name>_cases() and is listed in the build.
struct OpCaseSet {
  // For gradient checks and goldens. At most a few hundred elements per input, since every element
  // is perturbed; extents are no multiples of a vector, so that tails are tested.
  std::vector<OpCase> small = {};
  // Training extents, which use a GPU's vectorised paths but are small enough for an F64 reference
  // on the CPU. No goldens.
  std::vector<OpCase> large = {};
  std::vector<OpCase> (*bench)(const BenchShape&) = nullptr;
};

// The cases of all sets.
std::vector<OpCase> op_cases();        // small
std::vector<OpCase> op_large_cases();  // large
// At llama_10m's shapes, B 8, T 512, on the CPU; at llama_500m's, B 32, T 2048, on a GPU.
std::vector<OpCase> op_bench_cases(Device device);
// The dtype of benches and measure_peak_flops(): F32 on the CPU, BF16 on a GPU.
DType bench_dtype(Device device);

// The ops of the cases without repetition, in order.
std::vector<std::string> op_names(const std::vector<OpCase>& cases);

// The page docs/op_support.md: op × dtype × backend, from the dtypes of op_cases().
std::string op_support_page();

}  // namespace ingot
