// Kernels of ops/reduce.h: the sum of one tensor on the CPU, of all tensors in one call on a GPU.
#pragma once

#include <memory>
#include <span>

#include "ops/common/kernel.h"
#include "ops/reduce.h"

namespace ingot {

namespace cpu {
enum class SumOf { Values, Squares };
INGOT_CPU_KERNEL(double, sum_of, (Context & ctx, const Tensor& tensor, SumOf what))
}  // namespace cpu
INGOT_CUDA_KERNEL(void, sum_of_squares,
                  (Context & ctx, std::span<const Tensor> tensors, const Tensor& total))
INGOT_CUDA_KERNEL(double, sum, (Context & ctx, const Tensor& tensor))
INGOT_CUDA_KERNEL(std::unique_ptr<RunningSum>, make_running_sum, (Context & ctx))
INGOT_KERNEL(void, cast, (Context & ctx, const Tensor& src, const Tensor& dst))

}  // namespace ingot
