// Means, standard errors and confidence intervals of scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

struct MeanScore {
  double value = 0.0;
  double standard_error = 0.0;  // s / √n, with the sample's s; 0 with one value
  int64_t num = 0;
};

MeanScore mean_of(std::span<const double> values);

struct Interval {
  double low = 0.0, high = 0.0;
};

// The 95 % bootstrap interval of Σ (factor · group mean + offset) / groups. Items are drawn again,
// with replacement, inside their group: a task's items are a sample, the tasks are the whole set.
// The same input gives the same interval.
struct BootstrapGroup {
  std::vector<double> values = {};
  double factor = 1.0, offset = 0.0;
};
Interval bootstrap_interval(std::span<const BootstrapGroup> groups);

}  // namespace ingot
