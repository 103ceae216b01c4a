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
                            const LossOptions& options, double scale, const Tensor& losses);

}  // namespace ingot::cuda
