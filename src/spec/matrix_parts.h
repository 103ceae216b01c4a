// The matrices that stand stacked in one parameter.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/tensor_table.h"

namespace ingot {

struct MatrixShape {
  int64_t rows = 0, cols = 0;
  int64_t numel() const { return rows * cols; }
  bool tall() const { return rows > cols; }
};

// By `parts`, from the first row on; the parameter itself where it is one matrix.
std::vector<MatrixShape> matrices_of(const TensorSpec& parameter);

}  // namespace ingot
