// GPU kernels of ops/reduce.h; arguments are checked by the caller. All work goes to the context's
// stream.
#pragma once

#include <memory>
#include <span>

#include "core/context.h"
#include "core/tensor.h"
#include "ops/cpu/reduce.h"
#include "ops/reduce.h"

namespace ingot::cuda {

double sum_of(Context& ctx, std::span<const Tensor> tensors, cpu::SumOf what);
std::unique_ptr<RunningSum> make_running_sum(Context& ctx);
void cast(Context& ctx, const Tensor& src, const Tensor& dst);

}  // namespace ingot::cuda
