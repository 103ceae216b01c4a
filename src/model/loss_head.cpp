#include "model/loss_head.h"

#include "core/error/error.h"
#include "model/norm.h"

namespace ingot {
namespace {

// While it lives, ops take their scratch from `memory`.
class ScratchFrom {
 public:
  ScratchFrom(Context& ctx, const Tensor& memory) : ctx_(ctx), before_(ctx.workspace) {
    ctx.workspace = Workspace(memory);
  }
  ~ScratchFrom() { ctx_.workspace = before_; }
  ScratchFrom(const ScratchFrom&) = delete;
  ScratchFrom& operator=(const ScratchFrom&) = delete;

 private:
  Context& ctx_;
  Workspace before_;
};

}  // namespace

LossHead::LossHead(double norm_eps, const LossOptions& options, Tensor scratch,
                   std::optional<VocabularyExchange> exchange)
    : norm_eps_(norm_eps),
      options_(options),
      scratch_(std::move(scratch)),
      exchange_(std::move(exchange)) {}

void LossHead::normalize(Context& ctx, const LossWeights& w, const LossTensors& x) const {
  check(!exchange_ || !w.head.fp8.defined(), ErrorCode::Internal,
        "a head whose vocabulary is spread over ranks expected no 8-bit weights, got some");
  norm_forward(ctx, x.residual, w.norm, norm_eps_, x.norm, x.rstd);
  if (w.head_changed) quantize_weight(ctx, w.head);
}

void LossHead::forward(Context& ctx, const LossWeights& w, const LossTensors& x) const {
  normalize(ctx, w, x);
  LossOptions options = options_;
  options.z_loss = 0.0;
  const ScratchFrom scratch(ctx, scratch_);
  if (exchange_) {
    lm_head_loss_forward(ctx, x.norm, w.head.plain, exchange_->shard, x.targets, options, x.losses);
  } else if (w.head.fp8.defined()) {
    Quantized input = x.input8;
    input.amax = {};  // an evaluation leaves no trace in it
    lm_head_loss_forward(ctx, x.norm, input, w.head.fp8, x.targets, options, x.losses);
  } else {
    lm_head_loss_forward(ctx, x.norm, w.head.plain, x.targets, options, x.losses);
  }
}

void LossHead::backward(Context& ctx, const LossWeights& w, const LossTensors& x,
                        const LossSlots& slots) const {
  normalize(ctx, w, x);
  const Tensor &h = x.norm, &dh = x.norm;  // (N, C), one in the other's place
  const auto& [dw, accumulate] = slots.head;
  {
    const ScratchFrom scratch(ctx, scratch_);
    if (exchange_)
      lm_head_loss_backward(ctx, h, w.head.plain, exchange_->shard, x.targets, options_, x.scale,
                            x.losses, dh, dw, accumulate);
    else if (w.head.fp8.defined())
      lm_head_loss_backward(ctx, h, x.input8, w.head.fp8, x.targets, options_, x.scale, x.losses,
                            dh, dw, accumulate);
    else
      lm_head_loss_backward(ctx, h, w.head.plain, x.targets, options_, x.scale, x.losses, dh, dw,
                            accumulate);
  }
  if (exchange_) exchange_->sum(dh);
  norm_backward(ctx, {.dy = dh,
                      .x = x.residual,
                      .w = w.norm,
                      .rstd = x.rstd,
                      .dx = x.d_residual,
                      .accumulate = Accumulate::No,
                      .slots = slots.norm});
}

}  // namespace ingot
