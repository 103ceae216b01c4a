// The end of the model: final norm, output head and loss, with their backward pass.
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
  bool head_changed = false;  // its 8-bit copies, if any, are outdated
};

struct LossTensors {
  Tensor residual;    // (N, C) residual stream after the last layer
  Tensor norm;        // (N, C); overwritten by its gradient
  Tensor rstd;        // (N)
  Quantized input8;   // scale and amax of `norm` in 8 bits, with fp8
  Tensor targets;     // (N) I32
  Tensor losses;      // (N)
  Tensor scale;       // (1) F64: gradients are of scale · Σ losses
  Tensor d_residual;  // (N, C)
};

struct LossSlots {
  Affine<GradientSlot> norm;
  GradientSlot head;
};

// Communication of ranks that each hold some rows of the head.
struct VocabularyExchange {
  VocabularyShard shard;
  // all-reduce: dh(N, C) becomes the sum over all shards.
  std::function<void(const Tensor& dh)> sum;
};

class LossHead {
 public:
  // Ops take their scratch from `scratch`: it is large and reuses memory that the layers do not
  // need at the time. Without an exchange the head is unsharded.
  LossHead(double norm_eps, const LossOptions& options, Tensor scratch,
           std::optional<VocabularyExchange> exchange = std::nullopt);

  // residual → losses, without z-loss.
  void forward(Context& ctx, const LossWeights& w, const LossTensors& x) const;
  // residual → losses, d_residual and the gradients of both weights. Includes the forward pass: the
  // gradient of a chunk's logits is computed right after them.
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
