// Converts tensors to doubles and back (rounded to nearest even). Contiguous tensors of floats, I32
// or U16.
#pragma once

#include <span>
#include <vector>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// For tensors in host memory.
std::vector<double> read_values(const Tensor& tensor);
void write_values(const Tensor& tensor, std::span<const double> values);

// For tensors on the context's device; complete on return.
std::vector<double> read_values(Context& ctx, const Tensor& tensor);
void write_values(Context& ctx, const Tensor& tensor, std::span<const double> values);

}  // namespace ingot
