#include "core/tensor/shape.h"

#include <fmt/ranges.h>

#include <span>

#include "core/error/error.h"

namespace ingot {

Shape::Shape(std::initializer_list<int64_t> dims) {
  for (const int64_t extent : dims) append(extent);
}

void Shape::append(int64_t extent) {
  check(rank_ < kMaxRank, ErrorCode::Internal, "a shape has too many dims: expected at most {}",
        kMaxRank);
  check(extent >= 0, ErrorCode::Internal, "an extent is negative: expected at least 0, got {}",
        extent);
  dims_[static_cast<size_t>(rank_++)] = extent;
}

int64_t Shape::numel() const {
  int64_t product = 1;
  for (int dim = 0; dim < rank_; ++dim) product *= (*this)[dim];
  return product;
}

std::string Shape::str() const {
  return fmt::format("({})", fmt::join(std::span(dims_).first(static_cast<size_t>(rank_)), ", "));
}

}  // namespace ingot
