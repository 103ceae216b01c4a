#include "core/random/random.h"

#include "core/random/normal.h"

namespace ingot {
namespace {

constexpr uint32_t low(uint64_t value) {
  return static_cast<uint32_t>(value);
}
constexpr uint32_t high(uint64_t value) {
  return static_cast<uint32_t>(value >> 32);
}
constexpr double kTwoToMinus32 = 0x1p-32;

}  // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key[0] += 0x9E3779B9;  // golden ratio
    key[1] += 0xBB67AE85;  // sqrt(3) - 1
  }
  return counter;
}

uint32_t tensor_id(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

// Purpose and the step's high half go through the cipher into the key rather than beside the seed:
// no seed then gives another purpose's values.
RandomStream::RandomStream(uint64_t seed, Purpose purpose, uint32_t tensor, uint64_t step)
    : tensor_(tensor), step_(low(step)) {
  const auto mixed =
      philox4x32({static_cast<uint32_t>(purpose), high(step), 0, 0}, {low(seed), high(seed)});
  key_ = {mixed[0], mixed[1]};
}

std::array<uint32_t, 4> RandomStream::block(uint64_t block_index) const {
  return philox4x32({low(block_index), high(block_index), tensor_, step_}, key_);
}

uint32_t RandomStream::bits(uint64_t index) const {
  return block(index / 4)[index % 4];
}

double RandomStream::uniform(uint64_t index) const {
  return bits(index) * kTwoToMinus32;
}

float RandomStream::normal(uint64_t index) const {
  const auto words = block(index / 4);
  const size_t first = index % 4 / 2 * 2;  // elements (0, 1) and (2, 3) share a radius and an angle
  const NormalPair pair = normal_pair(words[first], words[first + 1]);
  return index % 2 == 0 ? pair.first : pair.second;
}

}  // namespace ingot
