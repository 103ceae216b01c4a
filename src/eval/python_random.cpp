#include "eval/python_random.h"

#include <bit>
#include <unordered_set>

#include "core/error/error.h"

namespace ingot {

// init_by_array() of the reference code over the words of the seed, low word first; CPython never
// seeds with init_genrand() alone.
PythonRandom::PythonRandom(uint64_t seed) : state_() {
  std::vector<uint32_t> key = {static_cast<uint32_t>(seed)};
  if (seed >> 32 != 0) key.push_back(static_cast<uint32_t>(seed >> 32));
  state_[0] = 19650218;
  for (uint32_t i = 1; i < kWords; ++i)
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;

  const auto mixed = [&](size_t i, uint32_t factor) {
    return state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * factor);
  };
  size_t i = 1, j = 0;
  const auto advance = [&] {
    if (++i < kWords) return;
    state_[0] = state_[kWords - 1];
    i = 1;
  };
  for (size_t k = 0; k < kWords; ++k) {
    state_[i] = mixed(i, 1664525u) + key[j] + static_cast<uint32_t>(j);
    advance();
    j = (j + 1) % key.size();
  }
  for (size_t k = 0; k + 1 < kWords; ++k) {
    state_[i] = mixed(i, 1566083941u) - static_cast<uint32_t>(i);
    advance();
  }
  state_[0] = 0x80000000u;
}

void PythonRandom::refill() {
  constexpr size_t kShift = 397;
  for (size_t i = 0; i < kWords; ++i) {
    const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kWords] & 0x7fffffffu);
    state_[i] = state_[(i + kShift) % kWords] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0u);
  }
  at_ = 0;
}

uint32_t PythonRandom::next() {
  if (at_ == kWords) refill();
  uint32_t y = state_[at_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

uint32_t PythonRandom::bits(int count) {
  return next() >> (32 - count);
}

uint64_t PythonRandom::below(uint64_t n) {
  check(n >= 1 && n < (uint64_t{1} << 32), ErrorCode::Internal,
        "PythonRandom::below: expected 1 to 2^32 - 1, got {}", n);
  const auto width = static_cast<int>(std::bit_width(n));
  uint64_t drawn = bits(width);
  while (drawn >= n) drawn = bits(width);
  return drawn;
}

std::vector<size_t> PythonRandom::sample(size_t n, size_t k) {
  check(k <= n, ErrorCode::Internal, "PythonRandom::sample: {} of {}", k, n);
  size_t set_size = 21;  // CPython's: from which size on a set takes less memory than a copy
  if (k > 5) {
    size_t power = 1;
    while (power < 3 * k) power *= 4;
    set_size += power;
  }
  std::vector<size_t> drawn;
  if (n <= set_size) {
    std::vector<size_t> pool(n);
    for (size_t i = 0; i < n; ++i) pool[i] = i;
    for (size_t i = 0; i < k; ++i) {
      const size_t j = below(n - i);
      drawn.push_back(pool[j]);
      pool[j] = pool[n - i - 1];
    }
    return drawn;
  }
  std::unordered_set<size_t> seen;
  while (drawn.size() < k) {
    const size_t j = below(n);
    if (seen.insert(j).second) drawn.push_back(j);
  }
  return drawn;
}

}  // namespace ingot
