#include "ingest/dedup/minhash_kernel.h"

#include <immintrin.h>

#include "core/device/isa_begin.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

#if defined(INGOT_ISA_avx512)
using Vector = __m512i;
Vector all(uint64_t value) {
  return _mm512_set1_epi64(static_cast<long long>(value));
}
Vector load(const uint64_t* p) {
  return _mm512_loadu_si512(p);
}
void store(uint64_t* p, Vector v) {
  _mm512_storeu_si512(p, v);
}
struct Factor {
  explicit Factor(Vector v) : value(v) {}
  Vector times(Vector h) const { return _mm512_mullo_epi64(value, h); }
  Vector value;
};
Vector add(Vector a, Vector b) {
  return _mm512_add_epi64(a, b);
}
Vector reduce(Vector v, Vector modulus) {
  const Vector sum = add(_mm512_and_si512(v, modulus), _mm512_srli_epi64(v, 61));
  return _mm512_min_epu64(sum, _mm512_sub_epi64(sum, modulus));  // which wraps where sum is less
}
Vector least(Vector a, Vector b) {
  return _mm512_min_epu64(a, b);
}
#elif defined(INGOT_ISA_avx2)
using Vector = __m256i;
Vector all(uint64_t value) {
  return _mm256_set1_epi64x(static_cast<long long>(value));
}
Vector load(const uint64_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const Vector*>(p));
}
void store(uint64_t* p, Vector v) {
  _mm256_storeu_si256(reinterpret_cast<Vector*>(p), v);
}
Vector add(Vector a, Vector b) {
  return _mm256_add_epi64(a, b);
}
struct Factor {
  explicit Factor(Vector v) : value(v), high(_mm256_srli_epi64(v, 32)) {}
  Vector times(Vector h) const {
    const Vector cross =
        add(_mm256_mul_epu32(high, h), _mm256_mul_epu32(value, _mm256_srli_epi64(h, 32)));
    return add(_mm256_mul_epu32(value, h), _mm256_slli_epi64(cross, 32));
  }
  Vector value, high;
};
// The one with the sign bit of `chooser`, lane by lane: set gives b.
Vector choose(Vector a, Vector b, Vector chooser) {
  return _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b),
                                              _mm256_castsi256_pd(chooser)));
}
// Values are below 2^62, so the sign of a difference compares them.
Vector reduce(Vector v, Vector modulus) {
  const Vector sum = add(_mm256_and_si256(v, modulus), _mm256_srli_epi64(v, 61));
  const Vector less = _mm256_sub_epi64(sum, modulus);
  return choose(less, sum, less);
}
Vector least(Vector a, Vector b) {
  return choose(a, b, _mm256_sub_epi64(b, a));
}
#else
using Vector = uint64_t;
Vector all(uint64_t value) {
  return value;
}
Vector load(const uint64_t* p) {
  return *p;
}
void store(uint64_t* p, Vector v) {
  *p = v;
}
struct Factor {
  explicit Factor(Vector v) : value(v) {}
  Vector times(Vector h) const { return value * h; }
  Vector value;
};
Vector add(Vector a, Vector b) {
  return a + b;
}
Vector reduce(Vector v, Vector modulus) {
  const Vector sum = (v & modulus) + (v >> 61);
  return sum < modulus ? sum : sum - modulus;
}
Vector least(Vector a, Vector b) {
  return a < b ? a : b;
}
#endif

constexpr size_t kVectorLanes = sizeof(Vector) / sizeof(uint64_t);
// Two vectors at a time: their parameters and minima stay in registers while all hashes pass.
constexpr size_t kStep = kVectorLanes * 2 <= kMinHashBlock ? kVectorLanes * 2 : kVectorLanes;

}  // namespace

void find_minima(std::span<const uint64_t> hashes, const uint64_t* a, const uint64_t* b,
                 size_t num_lanes, uint64_t* minima) {
  const Vector modulus = all(kMersenne61);
  for (size_t lane = 0; lane < num_lanes; lane += kStep) {
    const size_t second = lane + kStep - kVectorLanes;  // the same as the first for AVX-512
    const Factor a0(load(a + lane)), a1(load(a + second));
    const Vector b0 = load(b + lane), b1 = load(b + second);
    Vector least0 = modulus, least1 = modulus;
    for (const uint64_t hash : hashes) {
      const Vector h = all(hash);
      least0 = least(least0, reduce(add(a0.times(h), b0), modulus));
      if constexpr (kStep != kVectorLanes) {
        least1 = least(least1, reduce(add(a1.times(h), b1), modulus));
      }
    }
    store(minima + lane, least0);
    if constexpr (kStep != kVectorLanes) store(minima + second, least1);
  }
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
