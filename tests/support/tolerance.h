// Tolerances of comparisons: they depend on the dtype only, not on op or comparison.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "core/tensor/dtype.h"

namespace ingot {

// The largest allowed relative_error() of a result of that type against a more exact one.
inline double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return 1e-7;  // resolution of central differences: step² of truncation, 1e-16 / step of noise
    case DType::F32:
      return 1e-5;  // about a hundred roundings of 6e-8
    case DType::F8E4M3:
      return 0.13;  // one unit in the last place, by which almost equal numbers may differ
    case DType::F8E5M2:
      return 0.26;
    default:
      return 2e-2;  // bf16: five roundings of 4e-3
  }
}

// max |got - want| / (|want| + rms(want)): relative for large elements; for small ones relative to
// the whole tensor, since cancellation leaves them fewer digits. NaN if any element is NaN.
inline double relative_error(std::span<const double> got, std::span<const double> want) {
  double squares = 0.0;
  for (double w : want) squares += w * w;
  const double rms = std::sqrt(squares / static_cast<double>(std::max<size_t>(1, want.size())));
  double worst = 0.0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::abs(got[i] - want[i]);
    const double relative = error == 0.0 ? 0.0 : error / (std::abs(want[i]) + rms);
    if (!(relative <= worst)) worst = relative;
    if (std::isnan(worst)) break;
  }
  return worst;
}

}  // namespace ingot
