// Counter-based random numbers: a value is a pure function of (seed, purpose, tensor, step, global
// element index). It is the same under any mesh, block size, thread count or order of evaluation.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ingot {

// Philox4x32-10 (Salmon et al., SC 2011), pinned to the Random123 known-answer vectors.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

enum class Purpose : uint32_t { Init = 1, Dropout, Rounding, SampleOrder, Sampling, Test };

// 32-bit id of a tensor's name (FNV-1a), the same on every machine.
uint32_t tensor_id(std::string_view name);

class RandomStream {
 public:
  RandomStream(uint64_t seed, Purpose purpose, uint32_t tensor = 0, uint64_t step = 0);

  uint32_t bits(uint64_t index) const;   // 32 random bits of element `index`
  double uniform(uint64_t index) const;  // [0, 1), 32 bits of resolution
  float normal(uint64_t index) const;    // standard normal; equal bits everywhere, see normal.h

  // For kernels that fill whole tensors. They call philox4x32 with the counter {low word of block,
  // high word of block, tensor, step} and this key.
  std::array<uint32_t, 2> key() const { return key_; }
  uint32_t tensor() const { return tensor_; }
  uint32_t step() const { return step_; }

 private:
  std::array<uint32_t, 4> block(uint64_t block_index) const;  // elements 4b … 4b+3

  std::array<uint32_t, 2> key_;
  uint32_t tensor_;
  uint32_t step_;
};

}  // namespace ingot
