// Reductions to one number, and casts.
#pragma once

#include <memory>
#include <span>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// total (1) F64 ← Σ x² over all tensors (F32, BF16, F64), summed in double over fixed chunks in
// order: equal for any thread count. The total stays where they are: the host does not wait.
void sum_of_squares(Context& ctx, std::span<const Tensor> tensors, const Tensor& total);

// Σ x in double, same promise; hands it to the host, which waits.
double sum(Context& ctx, const Tensor& tensor);

// A sum that grows while the host goes on: a GPU has no reason to stand still for each part of it.
class RunningSum {
 public:
  virtual ~RunningSum() = default;
  void add(const Tensor& tensor);  // Σ x, as sum() computes it
  // The sums in the order they were added, and 0 from then on. Waits for them, not for what was
  // issued after the last.
  virtual double take() = 0;
  virtual void reset() = 0;  // 0 from then on; waits for nothing

 protected:
  explicit RunningSum(Context& ctx) : ctx_(ctx) {}
  virtual void add_checked(const Tensor& tensor) = 0;
  Context& ctx_;
};
std::unique_ptr<RunningSum> make_running_sum(Context& ctx);  // which must outlive it

// dst = src, converted (rounding to nearest even); same numel, both contiguous. F32, BF16, F16,
// F8*, F64.
void cast(Context& ctx, const Tensor& src, const Tensor& dst);

}  // namespace ingot
