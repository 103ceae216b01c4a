#include "eval/statistics.h"

#include <algorithm>
#include <cmath>

#include "eval/python_random.h"

namespace ingot {

MeanScore mean_of(std::span<const double> values) {
  MeanScore score{.num = std::ssize(values)};
  if (values.empty()) return score;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) score.value += value / n;
  if (values.size() == 1) return score;
  double squares = 0;
  for (const double value : values) squares += (value - score.value) * (value - score.value);
  score.standard_error = std::sqrt(squares / (n - 1) / n);
  return score;
}

Interval bootstrap_interval(std::span<const BootstrapGroup> groups) {
  constexpr int kRounds = 1000;
  constexpr size_t kLow = 24, kHigh = 975;  // of 1,000 in order, 2.5 % lie outside at each end
  std::vector<double> means;
  PythonRandom random(1234);
  for (int round = 0; round < kRounds; ++round) {
    double sum = 0;
    for (const BootstrapGroup& group : groups) {
      double drawn = 0;
      for (size_t i = 0; i < group.values.size(); ++i)
        drawn += group.values[random.below(group.values.size())];
      sum += group.factor * drawn / static_cast<double>(group.values.size()) + group.offset;
    }
    means.push_back(sum / static_cast<double>(groups.size()));
  }
  std::ranges::sort(means);
  return {.low = means[kLow], .high = means[kHigh]};
}

}  // namespace ingot
