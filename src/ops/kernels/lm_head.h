// Kernels of ops/lm_head.h.
#pragma once

#include "ops/common/kernel.h"
#include "ops/lm_head.h"

namespace ingot {

// losses(N) from logits(N, V), which the soft cap may overwrite; F32 or F64 on the CPU.
INGOT_KERNEL(void, cross_entropy,
             (Context & ctx, const Tensor& logits, const Tensor& targets,
              const LossOptions& options, const Tensor& losses))
// The same; also replaces logits by the gradient of scale · Σ losses with respect to them.
INGOT_KERNEL(void, cross_entropy_gradient,
             (Context & ctx, const Tensor& logits, const Tensor& targets,
              const LossOptions& options, const Tensor& scale, const Tensor& losses))
// See cross_entropy_statistics() and its pair in ops/lm_head.h.
INGOT_KERNEL(void, cross_entropy_statistics,
             (Context & ctx, const Tensor& logits, const Tensor& targets, int64_t first,
              const LossOptions& options, const Tensor& statistics))
INGOT_KERNEL(void, cross_entropy_from_statistics,
             (Context & ctx, const Tensor& logits, const Tensor& targets, int64_t first,
              const LossOptions& options, const Tensor& statistics, const Tensor& scale,
              const Tensor& losses))
// The power of two that scales the gradients of the logits for F8E5M2. Twice loss_scale (1) F64
// bounds every gradient; scale (1) brings that into range; inverse (1) is 1 / scale. Both are 1
// where loss_scale is 0 or not finite: such a step is skipped.
INGOT_KERNEL(void, logits_gradient_scale,
             (Context & ctx, const Tensor& loss_scale, const Tensor& scale, const Tensor& inverse))

}  // namespace ingot
