// What the two branches of a layer, attention and MLP, share.
#pragma once

#include "core/context.h"
#include "model/layer_tensors.h"
#include "ops/attention.h"
#include "ops/rope.h"

namespace ingot {

// A layer at work on one micro-batch.
struct LayerPass {
  const LayerWeights& w;
  const LayerTensors& x;
  const RopeInput& rope;
  const AttentionOptions& attention;
};

// And on its way back.
struct LayerBackwardPass {
  const LayerGradients& d;
  const LayerSlots& slots;
};

// A branch's last product joins the residual stream: next(N, C) = stream(N, C) + y(N, K) · w(C,
// K)ᵀ, rounded once. Both branches leave here and nowhere else: ranks that hold some columns of w
// each would add up their products at this place.
void join_stream(Context& ctx, const Operand& y, const Operand& w, const Tensor& stream,
                 const Tensor& next);

}  // namespace ingot
