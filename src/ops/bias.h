// The bias of a linear layer, added to each row of its output.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// x(N, R) += bias(R); both contiguous and of one dtype.
void add_bias(Context& ctx, const Tensor& x, const Tensor& bias);

// dbias(R) += Σ rows of dy(N, R), contiguous; dbias is F32 (F64 for F64). Sums are over fixed parts
// of the rows, so the result does not depend on the number of threads.
void bias_gradient(Context& ctx, const Tensor& dy, const Tensor& dbias);

// 0 on the CPU, where threads split the columns.
int64_t bias_gradient_workspace_bytes(const DeviceFacts& facts, int64_t num_rows, int64_t width);

}  // namespace ingot
