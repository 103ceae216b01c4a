// Best-fit decreasing by its definition, quadratic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace ingot::testing_support {

// How many samples of T tokens it takes.
inline int64_t best_fit_decreasing(const std::vector<int64_t>& lengths, int64_t T) {
  int64_t full = 0;
  std::vector<int64_t> remainders, rooms;
  for (const int64_t length : lengths) {
    full += length / T;
    if (length % T > 0) remainders.push_back(length % T);
  }
  std::sort(remainders.begin(), remainders.end(), std::greater<>());
  for (const int64_t remainder : remainders) {
    int64_t* best = nullptr;
    for (int64_t& room : rooms)
      if (room >= remainder && (best == nullptr || room < *best)) best = &room;
    if (best == nullptr) best = &rooms.emplace_back(T);
    *best -= remainder;
  }
  return full + static_cast<int64_t>(rooms.size());
}

}  // namespace ingot::testing_support
