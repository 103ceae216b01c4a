// The few numbers that decide an update of the weights. They lie where the update runs, so that the
// host neither waits for them nor hands them back: whether to update, by what to multiply the
// gradient, and which update it is.
#pragma once

#include <array>
#include <limits>
#include <memory>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// By index of UpdateScalars::values.
enum UpdateValue {
  kGradSquares,  // Σ g² of the gradients as they are, over all ranks
  kGradNorm,     // of the loss as it is, before clipping
  kClipScale,    // what the gradient is multiplied with to clip it
  kGradScale,    // the same, and the loss scale taken out: what kernels multiply with
  kSkipped,      // 1: the norm is not finite and nothing may change
  kNumUpdateValues
};
using UpdateValues = std::array<double, kNumUpdateValues>;

struct UpdateScalars {
  Tensor values;  // (kNumUpdateValues) F64
  Tensor count;   // (1) I64: updates so far, this one among them; a skipped one is not counted
};

struct ClipRule {
  double clip = 0.0;        // largest norm; 0: no clipping
  double loss_scale = 1.0;  // what the loss, and so every gradient, was multiplied with
};

// From values[kGradSquares] all others; the count grows by one unless the update is skipped.
void decide_update(Context& ctx, const ClipRule& rule, const UpdateScalars& scalars);

// Hands the values to the host, which goes on meanwhile.
class UpdateReader {
 public:
  virtual ~UpdateReader() = default;
  virtual void issue(const UpdateScalars& scalars) = 0;  // as they are after the work issued so far
  // What the last issue() read. Waits for that, not for what was issued after.
  virtual UpdateValues read() = 0;
};
std::unique_ptr<UpdateReader> make_update_reader(Context& ctx);  // which must outlive it

// Throws unless both lie where ctx computes and are of their type and size.
void check_update_scalars(const char* op, const Context& ctx, const UpdateScalars& scalars);

// decide_update() of one thread; constexpr lets a GPU kernel call it.
constexpr void decide(const ClipRule& rule, double* values, int64_t* count) {
  const double norm = __builtin_sqrt(values[kGradSquares]) / rule.loss_scale;
  const bool finite = norm <= std::numeric_limits<double>::max();
  // torch.nn.utils.clip_grad_norm_ divides by norm + 1e-6; the same here, so that runs compare.
  const double wanted = rule.clip > 0.0 ? rule.clip / (norm + 1e-6) : 1.0;
  const double clip_scale = wanted < 1.0 ? wanted : 1.0;
  values[kGradNorm] = norm;
  values[kClipScale] = clip_scale;
  values[kGradScale] = clip_scale / rule.loss_scale;
  values[kSkipped] = finite ? 0.0 : 1.0;
  if (finite) *count += 1;
}

}  // namespace ingot
