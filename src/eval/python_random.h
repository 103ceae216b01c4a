// Python's random.Random, bit for bit: published scores depend on the examples that it draws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ingot {

// The generator of random.Random(seed) for an integer seed: MT19937 with CPython's seeding.
class PythonRandom {
 public:
  explicit PythonRandom(uint64_t seed);

  uint32_t bits(int count);                        // getrandbits(count), 1 to 32
  uint64_t below(uint64_t n);                      // randbelow(n), n ≥ 1
  std::vector<size_t> sample(size_t n, size_t k);  // sample(range(n), k), k ≤ n

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i-- > 1;) std::swap(items[i], items[below(i + 1)]);
  }

 private:
  static constexpr size_t kWords = 624;

  uint32_t next();
  void refill();

  std::array<uint32_t, kWords> state_;
  size_t at_ = kWords;
};

}  // namespace ingot
