// Kernels of ops/lm_head.h.
#pragma once

#include "ops/common/kernel.h"
#include "ops/lm_head.h"

namespace ingot {

// losses(N) of logits(N, V), which the soft-cap may overwrite; F32 or F64 on the CPU.
INGOT_KERNEL(void, cross_entropy,
             (Context & ctx, const Tensor& logits, const Tensor& targets,
              const LossOptions& options, const Tensor& losses))
// The same, and logits become the gradient of scale · Σ losses with respect to themselves.
INGOT_KERNEL(void, cross_entropy_gradient,
             (Context & ctx, const Tensor& logits, const Tensor& targets,
              const LossOptions& options, const Tensor& scale, const Tensor& losses))
// ops/lm_head.h.
INGOT_KERNEL(void, cross_entropy_statistics,
             (Context & ctx, const Tensor& logits, const Tensor& targets, int64_t first,
              const LossOptions& options, const Tensor& statistics))
INGOT_KERNEL(void, cross_entropy_from_statistics,
             (Context & ctx, const Tensor& logits, const Tensor& targets, int64_t first,
              const LossOptions& options, const Tensor& statistics, const Tensor& scale,
              const Tensor& losses))
// The powers of two by which gradients of the logits are rounded to F8E5M2: twice loss_scale (1)
// F64, more than any of them, times scale (1) is within its range; inverse (1) is 1 / scale.
INGOT_KERNEL(void, logits_gradient_scale,
             (Context & ctx, const Tensor& loss_scale, const Tensor& scale, const Tensor& inverse))

}  // namespace ingot
