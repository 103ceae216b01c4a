#include "parallel/comm/tcp/siphash.h"

#include <bit>
#include <cstdint>

namespace ingot::tcp {
namespace {

uint64_t little_endian(const std::byte* bytes, size_t count) {
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) word |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return word;
}

// The four words of Aumasson and Bernstein, «SipHash: a fast short-input PRF» (2012).
struct State {
  uint64_t v0, v1, v2, v3;

  void round(int count) {
    for (; count > 0; --count) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(uint64_t word) {
    v3 ^= word;
    round(2);
    v0 ^= word;
  }
};

}  // namespace

Mac siphash(const Key& key, std::span<const std::byte> bytes) {
  const uint64_t k0 = little_endian(key.data(), 8), k1 = little_endian(key.data() + 8, 8);
  State state{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee, k0 ^ 0x6c7967656e657261,
              k1 ^ 0x7465646279746573};
  const size_t whole = bytes.size() / 8 * 8;
  for (size_t at = 0; at < whole; at += 8) state.take(little_endian(bytes.data() + at, 8));
  state.take(static_cast<uint64_t>(bytes.size()) << 56 |
             little_endian(bytes.data() + whole, bytes.size() - whole));
  Mac mac;
  for (const bool second : {false, true}) {
    (second ? state.v1 : state.v2) ^= second ? 0xdd : 0xee;
    state.round(4);
    const uint64_t word = state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
    for (size_t i = 0; i < 8; ++i)
      mac[(second ? 8 : 0) + i] = static_cast<std::byte>(word >> (8 * i));
  }
  return mac;
}

Mac siphash(const Key& key, std::string_view text) {
  return siphash(key, std::as_bytes(std::span(text)));
}

}  // namespace ingot::tcp
