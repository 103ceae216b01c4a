#include "spec/matrix_parts.h"

#include "core/error.h"

namespace ingot {

std::vector<MatrixShape> matrices_of(const TensorSpec& parameter) {
  const int64_t rows = parameter.shape[0], cols = parameter.shape[1];
  if (parameter.parts.empty()) return {{rows, cols}};
  std::vector<MatrixShape> matrices;
  int64_t sum = 0;
  for (const int64_t part : parameter.parts) {
    matrices.push_back({part, cols});
    sum += part;
  }
  check(sum == rows, ErrorCode::Internal, "the parts of {} have {} rows, it has {}", parameter.name,
        sum, rows);
  return matrices;
}

}  // namespace ingot
