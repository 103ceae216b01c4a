// One case of one op. From it come: analytic ≡ finite-difference gradient, agreement with PyTorch,
// equality over ISAs and thread counts, guard bytes, a roofline bench row, a row of the generated
// support table and, with a second backend, CPU ≡ CUDA.
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
  bool differentiable = true;       // gets a gradient named "d." + name; never of a fixed type
  std::optional<DType> type = {};   // this one, whatever the case runs in
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
  std::optional<DType> type = {};  // this one, whatever the case runs in; not its cotangent's
};

using OpTensors = std::map<std::string, Tensor, std::less<>>;
using OpValues = std::map<std::string, std::vector<double>, std::less<>>;

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
  // What the op computes, in plain loops: outputs by name from inputs by name. Empty: a golden file
  // has what PyTorch computes.
  std::function<OpValues(const OpValues&)> reference;
  // What it runs in, on the CPU and on a GPU: each of them is tested and stands on the support
  // page.
  std::vector<DType> dtypes = {DType::F64, DType::F32, DType::BF16};
  std::vector<DType> cuda_dtypes = {DType::F32, DType::BF16};
  // Work of forward and backward together, for the roofline; only bench cases need it. Memory
  // counts each tensor once for each pass that must read or write it.
  double flops = 0;
  double elements = 0;    // of tensors of the case's dtype
  double wide_bytes = 0;  // of tensors that are F32, or 8 bits wide, whatever that is
  double bytes(DType dtype) const {
    return elements * static_cast<double>(size_of(dtype)) + wide_bytes;
  }
};

// Shapes of one training step, the bench's yardstick.
struct BenchShape {
  DType dtype = DType::F32;
  int64_t B = 0, T = 0, C = 0, H = 0, D = 0, F = 0, V = 0;
  int64_t loss_chunk = 0;  // tokens at a time in the head
  int64_t flat = 0;        // elements of a flat buffer: optimizer, sums, casts
  int64_t N() const { return B * T; }
};

// The cases of one or of a few related ops. A source src/probe/cases/<name>.cpp defines
// OpCaseSet <name>_cases(), and is listed by the build.
struct OpCaseSet {
  // Gradient checks and goldens. At most a few hundred elements an input, since every element is
  // perturbed; extents that are no multiple of a vector, so that tails are tested.
  std::vector<OpCase> small = {};
  // Extents of training, where a GPU's vectorised paths run, yet small enough for a reference in
  // F64 on the CPU. No goldens.
  std::vector<OpCase> large = {};
  std::vector<OpCase> (*bench)(const BenchShape&) = nullptr;
};

// Those of all sets.
std::vector<OpCase> op_cases();        // small
std::vector<OpCase> op_large_cases();  // large
// At llama_10m's shapes, B 8, T 512, on the CPU; at llama_500m's, B 32, T 2048, on a GPU.
std::vector<OpCase> op_bench_cases(Device device);
// What they and measure_peak_flops() run in: F32 on the CPU, BF16 on a GPU.
DType bench_dtype(Device device);

// The ops of the cases, each once, in order.
std::vector<std::string> op_names(const std::vector<OpCase>& cases);

// The page docs/op_support.md: op × dtype × backend, from op_cases(): what their tests run in.
std::string op_support_page();

}  // namespace ingot
