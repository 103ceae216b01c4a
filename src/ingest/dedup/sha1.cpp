#include "ingest/dedup/sha1.h"

#include <cpuid.h>
#include <immintrin.h>

#include <bit>
#include <cstring>
#include <utility>

namespace ingot {
namespace {

constexpr size_t kBlock = 64;
using State = std::array<uint32_t, 5>;

uint32_t load_big_endian(const uint8_t* p) {
  uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap32(value);
}

// Twenty rounds with one mixing function; the schedule is made as it is used.
template <int first, class Mix>
void rounds(State& s, std::array<uint32_t, 16>& w, uint32_t constant, Mix mix) {
  auto [a, b, c, d, e] = s;
  for (int t = first; t < first + 20; ++t) {
    const auto at = [&](int i) -> uint32_t& { return w[static_cast<size_t>(i & 15)]; };
    if (t >= 16) at(t) = std::rotl(at(t + 13) ^ at(t + 8) ^ at(t + 2) ^ at(t), 1);
    const uint32_t next = std::rotl(a, 5) + mix(b, c, d) + e + constant + at(t);
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  s = {a, b, c, d, e};
}

void add_block_generic(State& state, const uint8_t* block) {
  std::array<uint32_t, 16> w;
  for (size_t i = 0; i < w.size(); ++i) w[i] = load_big_endian(block + 4 * i);
  State s = state;
  const auto parity = [](uint32_t b, uint32_t c, uint32_t d) { return b ^ c ^ d; };
  rounds<0>(s, w, 0x5A827999, [](uint32_t b, uint32_t c, uint32_t d) { return d ^ (b & (c ^ d)); });
  rounds<20>(s, w, 0x6ED9EBA1, parity);
  rounds<40>(s, w, 0x8F1BBCDC,
             [](uint32_t b, uint32_t c, uint32_t d) { return (b & c) | (d & (b | c)); });
  rounds<60>(s, w, 0xCA62C1D6, parity);
  for (size_t i = 0; i < state.size(); ++i) state[i] += s[i];
}

#define INGOT_SHA __attribute__((target("sha,ssse3,sse4.1")))

// Four rounds with the processor's SHA instructions, and the words of the schedule for those after
// the next three groups; w is a ring of four groups.
template <size_t group>
INGOT_SHA inline void four_rounds(__m128i& abcd, __m128i& e, __m128i* w) {
  constexpr int kFunction = group / 5;
  const __m128i before = abcd;
  abcd = _mm_sha1rnds4_epu32(abcd, e, kFunction);
  e = _mm_sha1nexte_epu32(before, w[(group + 1) % 4]);
  const __m128i mixed =
      _mm_xor_si128(_mm_sha1msg1_epu32(w[group % 4], w[(group + 1) % 4]), w[(group + 2) % 4]);
  w[group % 4] = _mm_sha1msg2_epu32(mixed, w[(group + 3) % 4]);
}

template <size_t... groups>
INGOT_SHA inline void all_rounds_but_four(__m128i& abcd, __m128i& e, __m128i* w,
                                          std::index_sequence<groups...>) {
  (four_rounds<groups>(abcd, e, w), ...);
}

INGOT_SHA void add_block_sha_ni(State& state, const uint8_t* block) {
  const __m128i swap = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
  __m128i w[4];
  for (size_t i = 0; i < 4; ++i) {
    const auto* part = reinterpret_cast<const __m128i*>(block + 16 * i);
    w[i] = _mm_shuffle_epi8(_mm_loadu_si128(part), swap);
  }
  auto* abcd_place = reinterpret_cast<__m128i*>(state.data());
  const __m128i abcd_before = _mm_shuffle_epi32(_mm_loadu_si128(abcd_place), 0x1B);
  const __m128i e_before = _mm_set_epi32(static_cast<int>(state[4]), 0, 0, 0);

  __m128i abcd = abcd_before, e = _mm_add_epi32(e_before, w[0]);
  all_rounds_but_four(abcd, e, w, std::make_index_sequence<19>());
  const __m128i last = abcd;
  abcd = _mm_add_epi32(_mm_sha1rnds4_epu32(abcd, e, 3), abcd_before);
  e = _mm_sha1nexte_epu32(last, e_before);

  _mm_storeu_si128(abcd_place, _mm_shuffle_epi32(abcd, 0x1B));
  state[4] = static_cast<uint32_t>(_mm_extract_epi32(e, 3));
}
#undef INGOT_SHA

using AddBlock = void (*)(State&, const uint8_t*);

bool has_sha_instructions() {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0 &&
         __builtin_cpu_supports("sse4.1");
}

}  // namespace

std::array<uint8_t, 20> sha1(std::string_view bytes, Sha1Code code) {
  static const bool has_instructions = has_sha_instructions();
  const AddBlock add_block =
      has_instructions && code == Sha1Code::Fastest ? add_block_sha_ni : add_block_generic;
  State state{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  const uint64_t num_bits = uint64_t{bytes.size()} * 8;
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) {
    add_block(state, reinterpret_cast<const uint8_t*>(bytes.data()));
  }
  // What is left, a one bit, zeros, and the length in the last eight bytes.
  std::array<uint8_t, 2 * kBlock> tail{};
  if (!bytes.empty()) std::memcpy(tail.data(), bytes.data(), bytes.size());
  tail[bytes.size()] = 0x80;
  const size_t end = bytes.size() + 9 <= kBlock ? kBlock : 2 * kBlock;
  for (size_t i = 0; i < 8; ++i) tail[end - 1 - i] = static_cast<uint8_t>(num_bits >> (8 * i));
  for (size_t i = 0; i < end; i += kBlock) add_block(state, tail.data() + i);

  std::array<uint8_t, 20> digest;
  for (size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

}  // namespace ingot
