#include "feed/mixture.h"

#include <cmath>

#include "core/error/error.h"

namespace ingot {
namespace {

__extension__ using Int128 = __int128;  // samples · weights passes 2^63

}  // namespace

Mixture::Mixture(std::span<const double> weights) : before_{0} {
  for (const double weight : weights) {
    const double millionths = std::round(weight * 1e6);
    check(millionths >= 1 && millionths <= 1e12, ErrorCode::Config,
          "weight of source {}: expected 0.000001 to 1000000, got {}", before_.size(), weight);
    before_.push_back(before_.back() + static_cast<int64_t>(millionths));
  }
  check(num_sources() > 0, ErrorCode::Config, "a mixture needs at least one source, got none");
}

// Of the first n samples reaching sources [first, end): those that reach [first, middle).
int64_t Mixture::left_of(int64_t n, size_t first, size_t middle, size_t end) const {
  const Int128 left = before_[middle] - before_[first], both = before_[end] - before_[first];
  return static_cast<int64_t>((2 * left * n + both) / (2 * both));
}

Mixture::Draw Mixture::at(int64_t i) const {
  size_t first = 0, end = before_.size() - 1;
  while (end - first > 1) {
    const size_t middle = first + (end - first) / 2;
    const int64_t left = left_of(i, first, middle, end);
    const bool goes_left = left_of(i + 1, first, middle, end) > left;
    i = goes_left ? left : i - left;
    (goes_left ? end : first) = middle;
  }
  return {static_cast<int64_t>(first), i};
}

int64_t Mixture::drawn(int64_t source, int64_t i) const {
  size_t first = 0, end = before_.size() - 1;
  while (end - first > 1) {
    const size_t middle = first + (end - first) / 2;
    const int64_t left = left_of(i, first, middle, end);
    const bool goes_left = static_cast<size_t>(source) < middle;
    i = goes_left ? left : i - left;
    (goes_left ? end : first) = middle;
  }
  return i;
}

int64_t Mixture::position(int64_t source, int64_t index) const {
  int64_t low = index, high = index + 1;  // drawn(source, low) <= index
  while (drawn(source, high) <= index) high *= 2;
  while (low + 1 < high) {
    const int64_t middle = low + (high - low) / 2;
    (drawn(source, middle) <= index ? low : high) = middle;
  }
  return low;
}

}  // namespace ingot
