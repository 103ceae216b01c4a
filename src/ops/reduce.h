// Reductions to one number, and casts between dtypes.
#pragma once

#include <memory>
#include <span>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// total (1) F64 ← Σ x² over all tensors (F32, BF16, F64), accumulated in double over fixed chunks
// in order: equal for any number of threads. The total stays on the tensors' device; the host does
// not wait.
void sum_of_squares(Context& ctx, std::span<const Tensor> tensors, const Tensor& total);

// Σ x in double, with the same guarantee. Returns it to the host, which waits.
double sum(Context& ctx, const Tensor& tensor);

// An asynchronous sum: the host adds terms without waiting for the GPU.
class RunningSum {
 public:
  virtual ~RunningSum() = default;
  void add(const Tensor& tensor);  // Σ x, as sum() computes it
  // The sums in the order they were added; the sum is 0 afterwards. Waits for the added terms, not
  // for work issued after them.
  virtual double take() = 0;
  virtual void reset() = 0;  // sets the sum to 0; does not wait

 protected:
  explicit RunningSum(Context& ctx) : ctx_(ctx) {}
  virtual void add_checked(const Tensor& tensor) = 0;
  Context& ctx_;
};
std::unique_ptr<RunningSum> make_running_sum(Context& ctx);  // ctx must outlive it

// dst = src, converted with round to nearest even; same numel, both contiguous. F32, BF16, F16,
// F8*, F64.
void cast(Context& ctx, const Tensor& src, const Tensor& dst);

}  // namespace ingot
