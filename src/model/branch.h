// What the two branches of a layer, attention and MLP, share.
#pragma once

#include "core/device/context.h"
#include "model/layer_tensors.h"
#include "model/norm.h"
#include "ops/attention.h"
#include "ops/rope.h"

namespace ingot {

// A layer at work on one micro-batch.
struct LayerPass {
  const LayerWeights& w;
  const LayerTensors& x;
  const RopeInput& rope;  // without tables where positions are learned
  const AttentionOptions& attention;
};

// And on its way back.
struct LayerBackwardPass {
  const LayerGradients& d;
  const LayerSlots& slots;
};

// A branch's last product joins the residual stream: next(N, C) = stream(N, C) + y(N, K) · w(C,
// K)ᵀ, rounded once, + bias. Branches leave here or by join_normed(): ranks that hold some columns
// of w each would add up their products at this place.
void join_stream(Context& ctx, const Operand& y, const Affine<Operand>& w, const Tensor& stream,
                 const Tensor& next);
// Where a norm stands after the branch: next(N, C) = stream(N, C) + norm of out(N, C).
void join_normed(Context& ctx, const Tensor& out, const Affine<Operand>& norm, double eps,
                 const Tensor& rstd, const Tensor& stream, const Tensor& next);

}  // namespace ingot
