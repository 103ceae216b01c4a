// What ends the model: final norm, output head and loss, with the way back through them.
#pragma once

#include <functional>
#include <optional>

#include "core/device/context.h"
#include "model/gradient_slots.h"
#include "model/operand.h"
#include "ops/lm_head.h"

namespace ingot {

struct LossWeights {
  Affine<Operand> norm;       // (C)
  Operand head;               // (V, C), or this rank's rows of it
  bool head_changed = false;  // its 8-bit copies, where it has some, are older than it
};

struct LossTensors {
  Tensor residual;    // (N, C) stream that leaves the last layer
  Tensor norm;        // (N, C); its gradient takes its place
  Tensor rstd;        // (N)
  Quantized input8;   // scale and maximum of `norm` in 8 bits, under fp8
  Tensor targets;     // (N) I32
  Tensor losses;      // (N)
  Tensor scale;       // (1) F64: gradients are of scale · Σ losses
  Tensor d_residual;  // (N, C)
};

struct LossSlots {
  Affine<GradientSlot> norm;
  GradientSlot head;
};

// How ranks that each hold some rows of the head make one loss of it.
struct VocabularyExchange {
  VocabularyShard shard;
  // dh(N, C) of this shard becomes the sum over all of them.
  std::function<void(const Tensor& dh)> sum;
};

class LossHead {
 public:
  // Ops take their scratch from `scratch`: it is large, and lies where that of the layers is not
  // needed at the time. Without an exchange the head is whole.
  LossHead(double norm_eps, const LossOptions& options, Tensor scratch,
           std::optional<VocabularyExchange> exchange = std::nullopt);

  // residual → losses, without z-loss.
  void forward(Context& ctx, const LossWeights& w, const LossTensors& x) const;
  // residual → losses, d_residual and the gradients of both weights: a chunk's logits are still at
  // hand when their gradient is wanted, so this is the forward pass as well.
  void backward(Context& ctx, const LossWeights& w, const LossTensors& x,
                const LossSlots& slots) const;

 private:
  void normalize(Context& ctx, const LossWeights& w, const LossTensors& x) const;

  double norm_eps_;
  LossOptions options_;
  Tensor scratch_;
  std::optional<VocabularyExchange> exchange_;
};

}  // namespace ingot
