// GPU kernels of ops/lm_head.h; arguments are checked by the caller. All work goes to the context's
// stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"
#include "ops/lm_head.h"

namespace ingot::cuda {

void cross_entropy(Context& ctx, const Tensor& logits, const Tensor& targets,
                   const LossOptions& options, const Tensor& losses);
void cross_entropy_gradient(Context& ctx, const Tensor& logits, const Tensor& targets,
                            const LossOptions& options, const Tensor& scale, const Tensor& losses);
void logits_gradient_scale(Context& ctx, const Tensor& loss_scale, const Tensor& scale,
                           const Tensor& inverse);

}  // namespace ingot::cuda
