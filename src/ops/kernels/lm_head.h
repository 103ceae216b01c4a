// Kernels of ops/lm_head.h.
#pragma once

#include "ops/kernel.h"
#include "ops/lm_head.h"

namespace ingot {

// losses(N) of logits(N, V), which the soft-cap may overwrite; F32 or F64 on the CPU.
INGOT_KERNEL(void, cross_entropy,
             (Context & ctx, const Tensor& logits, const Tensor& targets,
              const LossOptions& options, const Tensor& losses))
// The same, and logits become the gradient of scale · Σ losses with respect to themselves.
INGOT_KERNEL(void, cross_entropy_gradient,
             (Context & ctx, const Tensor& logits, const Tensor& targets,
              const LossOptions& options, double scale, const Tensor& losses))

}  // namespace ingot
