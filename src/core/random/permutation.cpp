#include "core/random/permutation.h"

#include "core/error/error.h"
#include "core/random/random.h"

namespace ingot {
namespace {

// Four rounds make a Feistel network a strong pseudo-random permutation when the halves are large
// (Luby and Rackoff 1988); ours may be one bit wide, and with eight a look-up
// takes 0.2 to 0.9 µs.
constexpr uint32_t kRounds = 8;

// This function is the sample order of every run ever recorded. It may not change.
uint64_t round_function(uint64_t half, uint32_t round, uint64_t seed, uint64_t epoch) {
  const auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  const auto high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
  const uint32_t tag = static_cast<uint32_t>(Purpose::SampleOrder) << 8 | round;
  return philox4x32({low(half), low(epoch), high(epoch), tag}, {low(seed), high(seed)})[0];
}

}  // namespace

KeyedPermutation::KeyedPermutation(uint64_t n, uint64_t seed, uint64_t epoch)
    : n_(n), seed_(seed), epoch_(epoch), half_bits_(1) {
  check(n > 0, ErrorCode::Internal, "a permutation needs at least one element, got {}", n);
  while (half_bits_ < 32 && (n - 1) >> (2 * half_bits_) != 0) ++half_bits_;
}

// The domain holds less than 4n values, so a walk takes fewer than four passes on average. A walk
// follows one cycle of the permutation of the domain and starts inside [0, n), so it returns there.
uint64_t KeyedPermutation::operator()(uint64_t position) const {
  check(position < n_, ErrorCode::Internal, "position: expected below {}, got {}", n_, position);
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t value = position;
  do {
    uint64_t left = value >> half_bits_;
    uint64_t right = value & mask;
    for (uint32_t round = 0; round < kRounds; ++round) {
      const uint64_t mixed = left ^ (round_function(right, round, seed_, epoch_) & mask);
      left = right;
      right = mixed;
    }
    value = left << half_bits_ | right;
  } while (value >= n_);
  return value;
}

uint64_t KeyedPermutation::inverse(uint64_t sample) const {
  check(sample < n_, ErrorCode::Internal, "sample: expected below {}, got {}", n_, sample);
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t value = sample;
  do {
    uint64_t left = value >> half_bits_;
    uint64_t right = value & mask;
    for (uint32_t round = kRounds; round-- > 0;) {
      const uint64_t unmixed = right ^ (round_function(left, round, seed_, epoch_) & mask);
      right = left;
      left = unmixed;
    }
    value = left << half_bits_ | right;
  } while (value >= n_);
  return value;
}

}  // namespace ingot
