// One block of queries against one block of keys. Scores are stored transposed, with keys as rows
// and queries as lanes. The softmax then runs down the rows without horizontal sums, a query's
// statistics are vector lanes, and K and V are used without a transpose.
#pragma once

#include "ops/cpu/attention_mask.h"

namespace ingot::cpu::INGOT_ISA {

// Head width D, a compile-time constant if kD is not 0, and the padded length of a packed row.
template <class Real, int kD>
struct Width {
  int64_t runtime_D;
  INGOT_SIMD int64_t D() const { return kD != 0 ? kD : runtime_D; }
  INGOT_SIMD int64_t padded() const { return round_up(D(), kTileLanes<Real>); }
};

// The visible intervals of a query block, relative to one key block.
template <class Real>
struct BlockMask {
  const Real *first, *end;     // (kQueryBlock) each
  const KeyRange* row_tiles;   // (kQueryBlock / kTileRows)
  const KeyRange* lane_tiles;  // (kQueryBlock / kTileLanes)
  int64_t key0;

  BlockMask(const Visible<Real>& visible, int64_t block, int64_t first_key)
      : first(visible.first + block * kQueryBlock),
        end(visible.end + block * kQueryBlock),
        row_tiles(visible.row_tiles + block * kQueryBlock / kTileRows),
        lane_tiles(visible.lane_tiles + block * kQueryBlock / kTileLanes<Real>),
        key0(first_key) {}

  // Keys that the tile of queries sees; without kMasked all.
  template <bool kMasked>
  KeyRange keys_of_rows(int64_t row_tile) const {
    return kMasked ? in_block(row_tiles[row_tile], key0) : KeyRange{0, kKeyBlock};
  }
  // The same, rounded to whole row tiles of keys, which is what score_gemm computes.
  template <bool kMasked>
  KeyRange keys_of_lanes(int64_t lane_tile) const {
    if (!kMasked) return {0, kKeyBlock};
    const KeyRange range = in_block(lane_tiles[lane_tile], key0);
    if (range.begin >= range.end) return {0, 0};
    return {range.begin / kTileRows * kTileRows, round_up(range.end, kTileRows)};
  }
  // Queries of the block that see a key of the tile at `key`, in whole row tiles.
  template <bool kMasked>
  KeyRange queries_of_keys(int64_t key) const {
    if (!kMasked) return {0, kQueryBlock};
    KeyRange range{kQueryBlock, 0};
    for (int64_t tile = 0; tile < kQueryBlock / kTileRows; ++tile) {
      if (!row_tiles[tile].meets(key0 + key, key0 + key + kTileRows)) continue;
      if (tile * kTileRows < range.begin) range.begin = tile * kTileRows;
      range.end = (tile + 1) * kTileRows;
    }
    return range;
  }
  INGOT_SIMD auto visible(int64_t key, int64_t query) const {
    const auto position = spread(static_cast<Real>(key0 + key));
    return (position >= load(first + query)) & (position < load(end + query));
  }
};

// scores(kKeyBlock, kQueryBlock) = rows(kKeyBlock, D) · columns(D, kQueryBlock), visible part only;
// of pairs, times `scale`.
template <bool kMasked, class Word, class Real, int kD>
void score_gemm(Width<Real, kD> width, const Word* rows, const Word* columns,
                const BlockMask<Real>& mask, Real* scores, Real scale = Real{1}) {
  constexpr int64_t kPerWord = kDepth<Word>;
  const int64_t row_words = width.padded() / kPerWord;
  for (int64_t lane = 0; lane < kQueryBlock; lane += kTileLanes<Real>) {
    const KeyRange keys = mask.template keys_of_lanes<kMasked>(lane / kTileLanes<Real>);
    for (int64_t key = keys.begin; key < keys.end; key += kTileRows) {
      gemm_tile<Start::Zero, Word, Real>(rows + key * row_words, row_words, 1, columns + lane,
                                         kQueryBlock, (width.D() + kPerWord - 1) / kPerWord,
                                         scores + key * kQueryBlock + lane, kQueryBlock, nullptr,
                                         scale);
    }
  }
}

// out(kQueryBlock, D) = start + weights(kKeyBlock, kQueryBlock)ᵀ · rows(kKeyBlock, D), words along
// the keys.
template <Start kStart, bool kMasked, class Word, class Real, int kD>
void query_gemm(Width<Real, kD> width, const Word* weights, const Word* rows,
                const BlockMask<Real>& mask, Real* out, const Real* out_scale = nullptr) {
  for (int64_t query = 0; query < kQueryBlock; query += kTileRows) {
    const KeyRange keys = mask.template keys_of_rows<kMasked>(query / kTileRows);
    if (keys.begin >= keys.end) continue;
    const int64_t begin = keys.begin / kDepth<Word>;
    const int64_t end = (keys.end + kDepth<Word> - 1) / kDepth<Word>;
    for (int64_t d = 0; d < width.padded(); d += kTileLanes<Real>) {
      gemm_tile<kStart, Word, Real>(weights + begin * kQueryBlock + query, 1, kQueryBlock,
                                    rows + begin * width.padded() + d, width.padded(), end - begin,
                                    out + query * width.padded() + d, width.padded(),
                                    out_scale + query);
    }
  }
}

// out(kKeyBlock, D) += weights(kKeyBlock, kQueryBlock) · rows(kQueryBlock, D), words along the
// queries.
template <bool kMasked, class Word, class Real, int kD>
void key_gemm(Width<Real, kD> width, const Word* weights, const Word* rows,
              const BlockMask<Real>& mask, Real* out) {
  constexpr int64_t kRowWords = kQueryBlock / kDepth<Word>;
  for (int64_t key = 0; key < kKeyBlock; key += kTileRows) {
    const KeyRange queries = mask.template queries_of_keys<kMasked>(key);
    if (queries.begin >= queries.end) continue;
    const int64_t begin = queries.begin / kDepth<Word>, end = queries.end / kDepth<Word>;
    for (int64_t d = 0; d < width.padded(); d += kTileLanes<Real>) {
      gemm_tile<Start::Load, Word, Real>(
          weights + key * kRowWords + begin, kRowWords, 1, rows + begin * width.padded() + d,
          width.padded(), end - begin, out + key * width.padded() + d, width.padded());
    }
  }
}

// Sets the weights outside the computed tiles of scores to 0.
template <class Real>
INGOT_SIMD void clear_outside(KeyRange keys, int64_t query, Real* weights) {
  for (int64_t key = 0; key < keys.begin; ++key)
    store(weights + key * kQueryBlock + query, VectorOf<Real>{});
  for (int64_t key = keys.end; key < kKeyBlock; ++key)
    store(weights + key * kQueryBlock + query, VectorOf<Real>{});
}

// max(a, b); b if either is NaN. One instruction, where g++ 12 turns the operators into a compare
// and a blend.
INGOT_SIMD FloatV larger_lanes(FloatV a, FloatV b) {
#if defined(INGOT_ISA_avx512)
  return _mm512_max_ps(a, b);
#elif defined(INGOT_ISA_avx2)
  return _mm256_max_ps(a, b);
#else
  return max(a, b);
#endif
}
INGOT_SIMD DoubleV larger_lanes(DoubleV a, DoubleV b) {
  return max(a, b);
}

// eˣ for x <= 0, which a softmax needs. It omits infinities, subnormals (the least result is e⁻⁸⁷)
// and the second part of ln 2: the forward pass at D 32 takes 9 % less time than with exp(). Within
// 1.5 ulp above -20, 4.5 below.
INGOT_SIMD FloatV exp_weight(FloatV x) {
  constexpr float kP[] = {0.49999994f, 0.16666521f, 0.04166839f, 0.00836871f, 0.001381461f};
  constexpr float kRound = 12582912.0f;  // 1.5·2²³: adding it leaves round(x) in the low bits
  x = larger_lanes(spread(-87.0f), x);
  const FloatV shifted = fma(x, spread(kLog2e), spread(kRound));
  const FloatV r = fma(shifted - kRound, spread(-0.69314718f), x);
  const FloatV e = fma(r * r, polynomial(r, kP), r) + 1.0f;
  return e * bits_as<FloatV>((bits_as<UintV>(shifted) << 23) + bits_as<uint32_t>(1.0f));
}
INGOT_SIMD DoubleV exp_weight(DoubleV x) {
  return exp(x);
}

// The running softmax of a query block, (kQueryBlock) each.
template <class Real>
struct RunningSoftmax {
  Real* max;      // of the scores so far
  Real* sum;      // of exp(score - max)
  Real* rescale;  // factor for the sums of the previous blocks
};

// Replaces scores by weights exp(score - max); updates max with this block's scores first.
template <bool kMasked, class Real>
void softmax_block(const BlockMask<Real>& mask, Real* scores, RunningSoftmax<Real> running) {
  using V = VectorOf<Real>;
  const V lowest = spread(std::numeric_limits<Real>::lowest());
  for (int64_t query = 0; query < kQueryBlock; query += kLanes<Real>) {
    const KeyRange keys = mask.template keys_of_lanes<kMasked>(query / kTileLanes<Real>);
    const V old_max = load(running.max + query);
    V new_max = old_max;
    for (int64_t key = keys.begin; key < keys.end; ++key) {
      V score = load(scores + key * kQueryBlock + query);
      if constexpr (kMasked) score = mask.visible(key, query) ? score : lowest;
      new_max = larger_lanes(new_max, score);
    }
    const V rescale = exp_weight(old_max - new_max);
    V sum = load(running.sum + query) * rescale;
    for (int64_t key = keys.begin; key < keys.end; ++key) {
      Real* const score = scores + key * kQueryBlock + query;
      V weight = exp_weight(load(score) - new_max);
      if constexpr (kMasked) weight = mask.visible(key, query) ? weight : V{};
      sum += weight;
      store(score, weight);
    }
    if constexpr (kMasked) clear_outside(keys, query, scores);
    store(running.max + query, new_max);
    store(running.sum + query, sum);
    store(running.rescale + query, rescale);
  }
}

// Replaces scores by cap·tanh(score/cap), where they were computed.
template <bool kMasked, class Real>
void cap_scores(const BlockMask<Real>& mask, Real cap, Real* scores) {
  const VectorOf<Real> cap_v = spread(cap), inverse = spread(Real{1} / cap);
  for (int64_t query = 0; query < kQueryBlock; query += kLanes<Real>) {
    const KeyRange keys = mask.template keys_of_lanes<kMasked>(query / kTileLanes<Real>);
    for (int64_t key = keys.begin; key < keys.end; ++key) {
      Real* const score = scores + key * kQueryBlock + query;
      store(score, cap_v * tanh(load(score) * inverse));
    }
  }
}

// Replaces scores by weights P = exp(score - lse) and dweights by dS = P·(dweights - delta). With a
// cap dS is multiplied by its slope 1 - (score/cap)²; inverse_cap is 0 without one.
template <bool kMasked, bool kCapped, class Real>
void softmax_backward_block(const BlockMask<Real>& mask, const Real* lse, const Real* delta,
                            Real inverse_cap, Real* scores, Real* dweights) {
  using V = VectorOf<Real>;
  for (int64_t query = 0; query < kQueryBlock; query += kLanes<Real>) {
    const KeyRange keys = mask.template keys_of_lanes<kMasked>(query / kTileLanes<Real>);
    const V lse_v = load(lse + query), delta_v = load(delta + query);
    for (int64_t key = keys.begin; key < keys.end; ++key) {
      Real* const score = scores + key * kQueryBlock + query;
      Real* const dweight = dweights + key * kQueryBlock + query;
      const V s = load(score);
      V weight = exp_weight(s - lse_v);
      if constexpr (kMasked) weight = mask.visible(key, query) ? weight : V{};
      store(score, weight);
      V dscore = weight * (load(dweight) - delta_v);
      if constexpr (kCapped) {
        const V part = s * inverse_cap;
        dscore = dscore * (Real{1} - part * part);
        if constexpr (kMasked) dscore = mask.visible(key, query) ? dscore : V{};
      }
      store(dweight, dscore);
    }
    if constexpr (kMasked) {
      clear_outside(keys, query, scores);
      clear_outside(keys, query, dweights);
    }
  }
}

}  // namespace ingot::cpu::INGOT_ISA
