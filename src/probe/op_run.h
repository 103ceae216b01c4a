// The buffers of one case, and its passes run on them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/thread_pool.h"
#include "probe/op_case.h"

namespace ingot {

// The elements of a contiguous float or I32 tensor as doubles, and back (rounded to nearest even).
std::vector<double> read_values(const Tensor& tensor);
void write_values(const Tensor& tensor, std::span<const double> values);

// Holds every tensor of the case, each between guard bytes, and a workspace of exactly the size the
// op asks for. Inputs and cotangents ("d." + output) are filled from a seed fixed by the names.
class OpRun {
 public:
  // Values are rounded to `rounding` before they are stored as `dtype`, so that a run in F64 can
  // start from what a run in BF16 starts from.
  OpRun(const OpCase& op_case, DType dtype, DType rounding, ThreadPool& pool);

  const OpTensors& tensors() const { return tensors_; }
  std::vector<double> values(std::string_view name) const { return read_values(tensor(name)); }
  void set_values(std::string_view name, std::span<const double> values);

  // Outputs are NaN before the forward pass and gradients zero before the backward pass, so what a
  // kernel forgets to write shows; the workspace is filled with NaNs.
  void forward();
  void backward();  // after forward(); nothing for a case without gradient
  // The passes alone, for the clock.
  void forward_only() { op_case_.forward(ctx_, tensors_); }
  void backward_only() { op_case_.backward(ctx_, tensors_); }

  // Name of the first buffer with a byte outside it changed, or of the first input or cotangent
  // changed by a pass; empty when all is intact.
  std::string damage() const;
  int64_t bytes() const { return arena_.bytes(); }

  std::vector<std::string> gradient_names() const;  // "d." + each differentiable input
  std::vector<std::string> output_names() const;

 private:
  const Tensor& tensor(std::string_view name) const;
  void place_all();
  void fill(const std::string& name, const OpInput& how);
  void poison(const Tensor& tensor);

  const OpCase& op_case_;
  DType dtype_;
  DType rounding_;
  Arena arena_;
  OpTensors tensors_;
  Context ctx_;
  std::vector<std::byte> before_;  // the arena after filling; what no pass may write stays equal
};

}  // namespace ingot
