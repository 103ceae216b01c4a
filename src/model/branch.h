// Shared by the two branches of a layer, attention and MLP.
#pragma once

#include "core/device/context.h"
#include "model/layer_tensors.h"
#include "model/norm.h"
#include "ops/attention.h"
#include "ops/rope.h"

namespace ingot {

// Arguments of a layer's forward pass on one micro-batch.
struct LayerPass {
  const LayerWeights& w;
  const LayerTensors& x;
  const RopeInput& rope;  // without tables if positions are learned
  const AttentionOptions& attention;
};

// Arguments of its backward pass.
struct LayerBackwardPass {
  const LayerGradients& d;
  const LayerSlots& slots;
};

// A branch's last GEMM adds to the residual stream: next(N, C) = stream(N, C) + y(N, K) · w(C, K)ᵀ,
// rounded once, + bias. Branches end here or in join_normed(): with tensor parallelism, ranks would
// all-reduce their partial results here.
void join_stream(Context& ctx, const Operand& y, const Affine<Operand>& w, const Tensor& stream,
                 const Tensor& next);
// If a norm follows the branch: next(N, C) = stream(N, C) + norm of out(N, C).
void join_normed(Context& ctx, const Tensor& out, const Affine<Operand>& norm, double eps,
                 const Tensor& rstd, const Tensor& stream, const Tensor& next);

}  // namespace ingot
