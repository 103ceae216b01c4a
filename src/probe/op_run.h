// Runs the passes of a case on buffers of its own.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/device/arena.h"
#include "probe/op_case.h"
#include "probe/values.h"

namespace ingot {

// Holds every tensor of the case between guard bytes, and a workspace of exactly the size that the
// op requests. Inputs and cotangents ("d." + output) are filled from a seed derived from the names.
class OpRun {
 public:
  // Values are rounded to `rounding` before they are stored as `dtype`: an F64 run can start from
  // the values of a BF16 run. All tensors are on ctx's device; the run has its own workspace.
  OpRun(const OpCase& op_case, DType dtype, DType rounding, const Context& ctx);

  const OpTensors& tensors() const { return tensors_; }
  std::vector<double> values(std::string_view name) const;
  std::vector<std::byte> contents(std::string_view name) const;  // the same, bit for bit
  void set_values(std::string_view name, std::span<const double> values);

  // Outputs are NaN before the forward pass and gradients zero before the backward pass, so that
  // unwritten elements are visible; the workspace is filled with NaNs.
  void forward();
  void backward();  // after forward(); does nothing for a case without gradient
  // Only the passes, for timing.
  void forward_only() { op_case_.forward(ctx_, tensors_); }
  void backward_only() { op_case_.backward(ctx_, tensors_); }

  // Name of the first buffer with a changed guard byte, or of the first input or cotangent changed
  // by a pass; empty if all are intact.
  std::string damage() const;
  int64_t bytes() const { return arena_.bytes(); }

  std::vector<std::string> gradient_names() const;  // "d." + each differentiable input
  std::vector<std::string> output_names() const;

 private:
  const Tensor& tensor(std::string_view name) const;
  Tensor everything() const { return arena_.place(0, DType::U8, {arena_.bytes()}); }
  int64_t offset_of(const Tensor& tensor) const;  // in the arena, in bytes
  Tensor filled(const Tensor& tensor);            // its initial contents in filled_
  std::vector<std::byte> download(const Tensor&) const;
  void place_all();
  void fill(const std::string& name, const OpInput& how);
  void poison(const Tensor& tensor);

  const OpCase& op_case_;
  DType dtype_;
  DType rounding_;
  Context ctx_;
  Arena arena_;
  OpTensors tensors_;
  // The initial contents of the arena in host memory, for comparison.
  std::vector<std::byte> filled_;
};

}  // namespace ingot
