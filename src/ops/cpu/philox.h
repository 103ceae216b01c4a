// The random words of a RandomStream, many at a time.
//
// Include it as simd.h: after all other headers, except simd.h.
#pragma once

#pragma GCC push_options
#pragma GCC reset_options
#include <cstdint>

#include "core/random/random.h"
#pragma GCC pop_options

#include "core/device/isa_begin.h"

namespace ingot::cpu::INGOT_ISA {

// words[j][i] = stream.bits(4·(first + i) + j). Plain loops over lanes; the compiler vectorises
// them.
template <int kBlocks>
[[gnu::always_inline]] inline void philox_blocks(const RandomStream& stream, uint64_t first,
                                                 uint32_t (&words)[4][kBlocks]) {
  const auto key = stream.key();
  auto& [c0, c1, c2, c3] = words;
  for (int i = 0; i < kBlocks; ++i) {
    const uint64_t block = first + static_cast<uint64_t>(i);
    c0[i] = static_cast<uint32_t>(block);
    c1[i] = static_cast<uint32_t>(block >> 32);
    c2[i] = stream.tensor();
    c3[i] = stream.step();
  }
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {  // philox4x32, see core/random/random.cpp
    for (int i = 0; i < kBlocks; ++i) {
      const uint64_t a = uint64_t{0xD2511F53} * c0[i];
      const uint64_t b = uint64_t{0xCD9E8D57} * c2[i];
      c0[i] = static_cast<uint32_t>(b >> 32) ^ c1[i] ^ k0;
      c1[i] = static_cast<uint32_t>(b);
      c2[i] = static_cast<uint32_t>(a >> 32) ^ c3[i] ^ k1;
      c3[i] = static_cast<uint32_t>(a);
    }
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
}

}  // namespace ingot::cpu::INGOT_ISA
