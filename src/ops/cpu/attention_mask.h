// The keys that a query sees: always one interval, for every combination of causality, window and
// documents. Tiles and blocks store the hull of their queries' intervals, so that GEMMs skip what
// no query sees.
#pragma once

#include "ops/attention.h"
#include "ops/cpu/attention_plan.h"
#include "ops/cpu/attention_tile.h"

namespace ingot::cpu::INGOT_ISA {

struct KeyRange {
  int64_t begin, end;
  bool meets(int64_t from, int64_t to) const { return begin < to && end > from; }
};

// The part of `range` in the key block that starts at key0, relative to key0.
INGOT_SIMD KeyRange in_block(KeyRange range, int64_t key0) {
  const int64_t begin = range.begin - key0, end = range.end - key0;
  return {begin < 0 ? 0 : begin, end > kKeyBlock ? kKeyBlock : end};
}

// For one segment of queries.
template <class Real>
struct Visible {
  Real *first, *end;     // (segment) interval of each query, compared lane by lane with keys
  KeyRange* row_tiles;   // (segment / kTileRows) hulls
  KeyRange* lane_tiles;  // (segment / kTileLanes) hulls
  KeyRange* blocks;      // (segment / kQueryBlock) hulls
  KeyRange* shared;      // (segment / kQueryBlock) keys that every query of the block sees

  // Queries [query0, query0 + num_queries) of row b; the padding up to padded_queries sees nothing.
  void fill(const AttentionOptions& options, int64_t b, int64_t Tq, int64_t Tk, int64_t query0,
            int64_t num_queries, int64_t padded_queries) const {
    const Tensor& documents = options.document_start;
    for (int64_t block = 0; block < padded_queries / kQueryBlock; ++block) {
      const int64_t block0 = block * kQueryBlock;
      for (int64_t i = 0; i < kQueryBlock / kTileRows; ++i)
        row_tiles[block0 / kTileRows + i] = {Tk, 0};
      for (int64_t i = 0; i < kQueryBlock / kTileLanes<Real>; ++i)
        lane_tiles[block0 / kTileLanes<Real> + i] = {Tk, 0};
      blocks[block] = {Tk, 0};
      shared[block] = {0, Tk};
      for (int64_t t = block0; t < block0 + kQueryBlock; ++t) {
        KeyRange range{Tk, 0};
        if (t < num_queries) {
          const int64_t last = options.causal ? Tk - Tq + query0 + t : Tk - 1;
          range = {0, last + 1};
          if (options.window > 0 && last + 1 > options.window)
            range.begin = last + 1 - options.window;
          if (documents.defined()) {
            const int64_t start = static_cast<const int32_t*>(
                documents.data)[b * documents.strides[0] + (query0 + t) * documents.strides[1]];
            if (start > range.begin) range.begin = start;
          }
        }
        first[t] = static_cast<Real>(range.begin);
        end[t] = static_cast<Real>(range.end);
        widen(row_tiles[t / kTileRows], range);
        widen(lane_tiles[t / kTileLanes<Real>], range);
        widen(blocks[block], range);
        if (range.begin > shared[block].begin) shared[block].begin = range.begin;
        if (range.end < shared[block].end) shared[block].end = range.end;
      }
    }
  }

 private:
  static void widen(KeyRange& hull, KeyRange range) {
    if (range.begin < hull.begin) hull.begin = range.begin;
    if (range.end > hull.end) hull.end = range.end;
  }
};

}  // namespace ingot::cpu::INGOT_ISA
