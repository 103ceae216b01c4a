// Sample order as a keyed bijection: the sample at position i of epoch e is computed, not stored.
// It is the same on every machine, rank count and run.
#pragma once

#include <cstdint>

namespace ingot {

// A pseudo-random permutation of [0, n): a balanced Feistel network over the smallest even-bit
// domain that holds n, with Philox as round function and cycle walking back into range. Expected
// O(1) per index.
class KeyedPermutation {
 public:
  KeyedPermutation(uint64_t n, uint64_t seed, uint64_t epoch);
  uint64_t operator()(uint64_t position) const;  // position < n
  uint64_t inverse(uint64_t sample) const;       // sample < n

 private:
  uint64_t n_;
  uint64_t seed_;
  uint64_t epoch_;
  int half_bits_;
};

}  // namespace ingot
