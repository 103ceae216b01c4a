// How closely results must agree: bound to the dtype, the same for every op and every comparison.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "core/tensor/dtype.h"

namespace ingot {

// Largest allowed relative_error() of a result of that type against a better one.
inline double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return 1e-7;  // what central differences resolve: step² of truncation, 1e-16 / step of noise
    case DType::F32:
      return 1e-5;  // about a hundred roundings of 6e-8
    case DType::F8E4M3:
      return 0.13;  // one step of the last place, where two almost equal numbers may part
    case DType::F8E5M2:
      return 0.26;
    default:
      return 2e-2;  // bf16: five roundings of 4e-3
  }
}

// max |got - want| / (|want| + rms(want)): relative for large elements, and for small ones relative
// to the size of the whole tensor, since cancellation leaves them no more digits. NaN if any is.
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
