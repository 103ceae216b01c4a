// Seconds by the steady clock, and the median of several times.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace ingot {

inline double to_seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return to_seconds(std::chrono::steady_clock::now() - start);
}

// The upper of the two in the middle of an even number; `values` must not be empty.
inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace ingot
