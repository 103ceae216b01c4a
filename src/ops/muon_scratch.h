// The scratch of Muon's update of one matrix: the one list of it, for the bytes as for the tensors.
#pragma once

#include <algorithm>

#include "core/arena.h"
#include "core/device_facts.h"
#include "core/tensor.h"
#include "ops/matmul.h"
#include "ops/muon.h"

namespace ingot {

struct MuonScratch {
  Tensor x, y;       // (rows, cols): the direction and its next form
  Tensor gram;       // (S, S), S the smaller extent: x·xᵀ, or xᵀ·x when x is tall
  Tensor square;     // (S, S): gram², then the polynomial of it
  Tensor wide_gram;  // (S, S) F32: where the product that makes gram gives only that
  Tensor squares;    // partial sums of the norm
};

// take(dtype, shape) gives each tensor.
template <class Take>
MuonScratch muon_scratch(const DeviceFacts& facts, int64_t rows, int64_t cols, const Take& take) {
  // The products want few bits (Jordan trained in BF16) and a GPU is 15 times faster with few.
  const DType dtype = facts.kind == DeviceKind::Cuda ? DType::BF16 : DType::F32;
  const int64_t S = std::min(rows, cols);
  MuonScratch scratch;
  scratch.x = take(dtype, {rows, cols});
  scratch.y = take(dtype, {rows, cols});
  scratch.gram = take(dtype, {S, S});
  scratch.square = take(dtype, {S, S});
  if (rows > cols && dtype != DType::F32) scratch.wide_gram = take(DType::F32, {S, S});
  scratch.squares = take(DType::F32, {muon_num_partials(rows * cols)});
  return scratch;
}

// With that of the products.
inline int64_t muon_workspace_bytes(const DeviceFacts& facts, int64_t rows, int64_t cols) {
  int64_t bytes = matmul_workspace_bytes(facts);
  muon_scratch(facts, rows, cols, [&](DType dtype, const Shape& shape) {
    bytes += align_up(shape.numel() * size_of(dtype));
    return Tensor{};
  });
  return bytes;
}

}  // namespace ingot
