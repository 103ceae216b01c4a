// Orthogonalises a matrix with GEMMs only: the Polar Express (Amsel et al. 2025, arXiv 2505.16932).
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {

struct PolarTensors {
  Tensor x;         // (rows, cols): the matrix
  Tensor y;         // (rows, cols)
  Tensor gram;      // (S, S), S the smaller extent: x·xᵀ, or xᵀ·x when x is tall
  Tensor square;    // (S, S): gram², then the polynomial of it
  Tensor squares;   // (muon_num_partials(rows·cols)): of x, from muon_momentum()
  Tensor acc_gram;  // (S, S) accumulation dtype, if needed (muon_scratch)
};

// y becomes approximately U·Vᵀ, where x = U·Σ·Vᵀ; x is overwritten.
void orthogonalize(Context& ctx, const MatrixShape& matrix, PolarTensors tensors);

}  // namespace ingot
