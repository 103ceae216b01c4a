// The numbers that decide a weight update: whether to update, the gradient's factor, and the number
// of the update. They lie on the device of the update, so that the host does not wait for them.
#pragma once

#include <array>
#include <limits>
#include <memory>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// By index of UpdateScalars::values.
enum UpdateValue {
  kGradSquares,  // Σ g² of the raw gradients, over all ranks
  kGradNorm,     // gradient norm without the loss scale, before clipping
  kClipScale,    // factor that clips the gradient
  kGradScale,    // clip scale divided by the loss scale: the factor that kernels use
  kSkipped,      // 1: the norm is not finite and the update is skipped
  kNumUpdateValues
};
using UpdateValues = std::array<double, kNumUpdateValues>;

struct UpdateScalars {
  Tensor values;  // (kNumUpdateValues) F64
  Tensor count;   // (1) I64: updates so far, including this one; skipped ones do not count
};

struct ClipRule {
  double clip = 0.0;        // maximum norm; 0: no clipping
  double loss_scale = 1.0;  // the factor of the loss, and so of every gradient
};

// Computes all other values from values[kGradSquares] and increments the count unless the update is
// skipped.
void decide_update(Context& ctx, const ClipRule& rule, const UpdateScalars& scalars);

// Copies the values to the host asynchronously.
class UpdateReader {
 public:
  virtual ~UpdateReader() = default;
  virtual void issue(const UpdateScalars& scalars) = 0;  // values after the work issued so far
  // The values of the last issue(). Waits for them, not for work issued later.
  virtual UpdateValues read() = 0;
};
std::unique_ptr<UpdateReader> make_update_reader(Context& ctx);  // ctx must outlive it

// Throws unless both are on ctx's device with the right dtype and size.
void check_update_scalars(const char* op, const Context& ctx, const UpdateScalars& scalars);

// decide_update() on one thread; constexpr lets a GPU kernel call it.
constexpr void decide(const ClipRule& rule, double* values, int64_t* count) {
  const double norm = __builtin_sqrt(values[kGradSquares]) / rule.loss_scale;
  const bool finite = norm <= std::numeric_limits<double>::max();
  // torch.nn.utils.clip_grad_norm_ divides by norm + 1e-6; this does too, so that runs are
  // comparable.
  const double wanted = rule.clip > 0.0 ? rule.clip / (norm + 1e-6) : 1.0;
  const double clip_scale = wanted < 1.0 ? wanted : 1.0;
  values[kGradNorm] = norm;
  values[kClipScale] = clip_scale;
  values[kGradScale] = clip_scale / rule.loss_scale;
  values[kSkipped] = finite ? 0.0 : 1.0;
  if (finite) *count += 1;
}

}  // namespace ingot
