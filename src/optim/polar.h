// Orthogonalising a matrix by products alone: the Polar Express (Amsel et al. 2025, arXiv
// 2505.16932).
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {

struct PolarTensors {
  Tensor x;          // (rows, cols): the matrix
  Tensor y;          // (rows, cols)
  Tensor gram;       // (S, S), S the smaller extent: x·xᵀ, or xᵀ·x when x is tall
  Tensor square;     // (S, S): gram², then the polynomial of it
  Tensor squares;    // (muon_num_partials(rows·cols)): of x, as muon_momentum() leaves them
  Tensor wide_gram;  // (S, S) wide, where it is needed (muon_scratch)
};

// y becomes nearly U·Vᵀ of x = U·Σ·Vᵀ; x is overwritten.
void orthogonalize(Context& ctx, const MatrixShape& matrix, PolarTensors tensors);

}  // namespace ingot
