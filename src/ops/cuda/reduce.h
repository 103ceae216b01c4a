// GPU kernels of ops/reduce.h; arguments are checked by the caller. All work goes to the context's
// stream.
#pragma once

#include <memory>
#include <span>

#include "core/context.h"
#include "core/tensor.h"
#include "ops/reduce.h"

namespace ingot::cuda {

void sum_of_squares(Context& ctx, std::span<const Tensor> tensors, const Tensor& total);
double sum(Context& ctx, const Tensor& tensor);
std::unique_ptr<RunningSum> make_running_sum(Context& ctx);
void cast(Context& ctx, const Tensor& src, const Tensor& dst);

}  // namespace ingot::cuda
