// A page holds, for each group of heads, keys (D, kPageTokens) and then values (kPageTokens, D):
// lanes are keys where scores are computed, and dims where values are summed, so nothing is
// transposed and no lanes are added up.
#include "ops/kernels/paged_attention.h"
#include "ops/cpu/attention_block.h"
#include "ops/cpu/kernel.h"
#include "ops/cpu/unroll.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}
int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

// Keys whose scores a query takes in at once. Blocks begin at multiples of this position, so that
// sums have the same order however a prompt is cut.
constexpr int64_t kBlockPages = 4;
constexpr int64_t kBlockKeys = kBlockPages * kPageTokens;
constexpr int kPageVectors = static_cast<int>(kPageTokens) / kLanes<float>;
constexpr int kBlockVectors = static_cast<int>(kBlockPages) * kPageVectors;
// A tile's scores of a block (AVX-512) or a page are in registers, and so are its sums of 4 or 2
// vectors of values.
constexpr int kMaxRows = 6;
#if defined(INGOT_ISA_avx512)
constexpr int kTilePages = 4, kValueVectors = 4;
#else
constexpr int kTilePages = 1, kValueVectors = 2;
#endif

// A line of keys holds those of this many dims.
template <class T>
constexpr int64_t kFetchEvery = 4 / static_cast<int64_t>(sizeof(T));

// Position p of a group's keys or values in the cache.
template <class T>
struct GroupPages {
  const T* data;
  const int32_t* pages;
  int64_t page_stride, D;

  const T* keys(int64_t page) const { return data + pages[page] * page_stride; }
  const T* values(int64_t page) const { return keys(page) + kPageTokens * D; }
};

// Where the keys of the pages lie that are read next: tiles fetch them, since the hardware loses
// track at every page. Null: nothing is fetched.
template <class T>
struct NextBlock {
  const T* keys[kBlockPages];

  // `elements` from each page on, in the order in which a block's loops read them.
  INGOT_SIMD void fetch(int64_t offset) const {
    unroll<static_cast<int>(kBlockPages)>(
        [&](auto p) INGOT_INLINE { __builtin_prefetch(keys[p] + offset); });
  }
};

// Up to kMaxRows queries of one group: rows of scratch.
struct Tile {
  int64_t height;
  const float* queries;     // (D, height), scaled
  float* sums;              // (height, padded D)
  float* max;               // (height) of the scores so far
  float* weight_sum;        // (height)
  KeyRange keys[kMaxRows];  // that each query sees
  KeyRange all;             // their hull
};

// The least height of a tile for `rows`.
int64_t tile_height(int64_t rows) {
  return rows <= 4 ? rows : kMaxRows;
}

// scores(kRows, kBlockKeys) of kPages pages from `page` of the block on.
template <int kPages, int kRows, class T>
INGOT_SIMD void score_pages(const Tile& tile, const GroupPages<T>& group, int64_t block_page,
                            int64_t page, const NextBlock<T>* next, float* scores) {
  constexpr int kVectors = kPages * kPageVectors;
  const T* keys[kPages];
  unroll<kPages>([&](auto p) INGOT_INLINE { keys[p] = group.keys(block_page + page + p()); });
  FloatV sums[kRows][kVectors];
  unroll<kRows>([&](auto i) INGOT_INLINE {
    unroll<kVectors>([&](auto j) INGOT_INLINE { sums[i][j] = FloatV{}; });
  });
  const float* query = tile.queries;
  for (int64_t d = 0; d < group.D; ++d, query += kRows) {
    if (next != nullptr && d % kFetchEvery<T> == 0) next->fetch(d * kPageTokens);
    FloatV key[kVectors];
    unroll<kVectors>([&](auto j) INGOT_INLINE {
      key[j] =
          load(keys[j() / kPageVectors] + d * kPageTokens + j() % kPageVectors * kLanes<float>);
    });
    unroll<kRows>([&](auto i) INGOT_INLINE {
      const FloatV q = spread(query[i]);
      unroll<kVectors>([&](auto j) INGOT_INLINE { sums[i][j] = fma(q, key[j], sums[i][j]); });
    });
  }
  unroll<kRows>([&](auto i) INGOT_INLINE {
    unroll<kVectors>([&](auto j) INGOT_INLINE {
      store(scores + i() * kBlockKeys + page * kPageTokens + j() * kLanes<float>, sums[i][j]);
    });
  });
}

// Replaces a query's scores of a block by weights, those of pages it does not see by 0; returns
// what earlier sums are multiplied by.
INGOT_SIMD float softmax_row(KeyRange keys, float softcap, float* scores, float& max, float& sum) {
  if (keys.begin >= keys.end) {
    std::memset(scores, 0, kBlockKeys * sizeof(float));
    return 1.0f;
  }
  FloatV index;
  for (int lane = 0; lane < kLanes<float>; ++lane) index[lane] = static_cast<float>(lane);
  const FloatV lowest = spread(std::numeric_limits<float>::lowest());
  const FloatV first = spread(static_cast<float>(keys.begin));
  const FloatV end = spread(static_cast<float>(keys.end));
  const auto visible = [&](int64_t j) INGOT_INLINE {
    const FloatV key = index + static_cast<float>(j * kLanes<float>);
    return (key >= first) & (key < end);
  };
  FloatV block_max = lowest;
  for (int64_t j = 0; j < kBlockVectors; ++j) {
    FloatV score = load(scores + j * kLanes<float>);
    if (softcap > 0.0f) {
      score = spread(softcap) * tanh(score * spread(1.0f / softcap));
      store(scores + j * kLanes<float>, score);
    }
    block_max = larger_lanes(block_max, visible(j) ? score : lowest);
  }
  const float old_max = max, in_block = horizontal_max(block_max);
  max = in_block > old_max ? in_block : old_max;
  FloatV weights{};
  for (int64_t j = 0; j < kBlockVectors; ++j) {
    const FloatV score = load(scores + j * kLanes<float>);
    const FloatV weight = visible(j) ? exp_weight(score - spread(max)) : FloatV{};
    store(scores + j * kLanes<float>, weight);
    weights += weight;
  }
  const float rescale = exp_weight(spread(old_max - max))[0];
  sum = sum * rescale + horizontal_sum(weights);
  return rescale;
}

// Vectors [d, d + kVectors) of the values of the key as far into the next block.
template <int kVectors, class T>
INGOT_SIMD void fetch_values(const NextBlock<T>& next, const GroupPages<T>& group, int64_t key,
                             int64_t d) {
  const T* value =
      next.keys[key / kPageTokens % kBlockPages] + (kPageTokens + key % kPageTokens) * group.D + d;
  constexpr int kPerLine = 64 / static_cast<int>(sizeof(T)) / kLanes<float>;  // vectors
  unroll<kVectors>([&](auto j) INGOT_INLINE {
    if (j() % kPerLine == 0) __builtin_prefetch(value + j() * kLanes<float>);
  });
}

// sums(kRows, D) = sums · rescale + weights · values over the keys of `range`, which are positions.
template <int kVectors, int kRows, class T, class Count>
INGOT_SIMD void sum_values(const Tile& tile, const GroupPages<T>& group, KeyRange range,
                           const NextBlock<T>* next, const float* weights, const float* rescale,
                           int64_t d, int64_t padded, Count count) {
  FloatV sums[kRows][kVectors];
  unroll<kRows>([&](auto i) INGOT_INLINE {
    unroll<kVectors>([&](auto j) INGOT_INLINE {
      sums[i][j] = load(tile.sums + i() * padded + d + j() * kLanes<float>) * spread(rescale[i]);
    });
  });
  for (int64_t key = range.begin; key < range.end;) {
    const int64_t page = key / kPageTokens;
    const T* values = group.values(page) + d;
    const int64_t page_end = (page + 1) * kPageTokens;
    const int64_t end = page_end < range.end ? page_end : range.end;
    for (; key < end; ++key) {
      const T* const value = values + key % kPageTokens * group.D;
      if (next != nullptr) fetch_values<kVectors>(*next, group, key, d);
      FloatV row[kVectors];
      unroll<kVectors>([&](auto j)
                           INGOT_INLINE { row[j] = load_n(value + j() * kLanes<float>, count); });
      unroll<kRows>([&](auto i) INGOT_INLINE {
        const FloatV weight = spread(weights[i() * kBlockKeys + key % kBlockKeys]);
        unroll<kVectors>([&](auto j)
                             INGOT_INLINE { sums[i][j] = fma(weight, row[j], sums[i][j]); });
      });
    }
  }
  unroll<kRows>([&](auto i) INGOT_INLINE {
    unroll<kVectors>([&](auto j) INGOT_INLINE {
      store(tile.sums + i() * padded + d + j() * kLanes<float>, sums[i][j]);
    });
  });
}

// Takes the keys of the block at position `begin` into a tile's softmax.
template <int kRows, class T>
[[gnu::noinline]] void attend_rows(const Tile& tile, const GroupPages<T>& group, int64_t begin,
                                   const NextBlock<T>* next, float softcap, int64_t padded,
                                   float* scores) {
  const KeyRange range{larger(tile.all.begin, begin), smaller(tile.all.end, begin + kBlockKeys)};
  const int64_t block_page = begin / kPageTokens;
  int64_t page = range.begin / kPageTokens - block_page;
  const int64_t end = (range.end - 1) / kPageTokens + 1 - block_page;
  if (page > 0 || end < kBlockPages)
    std::memset(scores, 0, kRows * kBlockKeys * sizeof(float));  // of pages that nobody sees
  for (; page + kTilePages <= end; page += kTilePages)
    score_pages<kTilePages, kRows>(tile, group, block_page, page, next, scores);
  for (; page < end; ++page) score_pages<1, kRows>(tile, group, block_page, page, next, scores);

  float rescale[kRows];
  for (int i = 0; i < kRows; ++i) {
    const KeyRange keys{larger(tile.keys[i].begin - begin, 0),
                        smaller(tile.keys[i].end - begin, kBlockKeys)};
    rescale[i] =
        softmax_row(keys, softcap, scores + i * kBlockKeys, tile.max[i], tile.weight_sum[i]);
  }
  int64_t d = 0;
  constexpr std::integral_constant<int64_t, kLanes<float>> kAll;
  for (; d + kValueVectors * kLanes<float> <= group.D; d += kValueVectors * kLanes<float>)
    sum_values<kValueVectors, kRows>(tile, group, range, next, scores, rescale, d, padded, kAll);
  for (; d + kLanes<float> <= group.D; d += kLanes<float>)
    sum_values<1, kRows>(tile, group, range, next, scores, rescale, d, padded, kAll);
  if (d < group.D)
    sum_values<1, kRows>(tile, group, range, next, scores, rescale, d, padded, group.D - d);
}

template <class... Arguments>
void attend(const Tile& tile, const Arguments&... arguments) {
  switch (tile.height) {
    case 1:
      return attend_rows<1>(tile, arguments...);
    case 2:
      return attend_rows<2>(tile, arguments...);
    case 3:
      return attend_rows<3>(tile, arguments...);
    case 4:
      return attend_rows<4>(tile, arguments...);
    default:
      return attend_rows<kMaxRows>(tile, arguments...);
  }
}

template <class T>
struct Attention {
  const PagedAttention& call;
  int64_t heads, D, per_group, padded;  // padded: of D, to whole vectors

  explicit Attention(const PagedAttention& c)
      : call(c),
        heads(c.q.shape[1]),
        D(c.q.shape[2]),
        per_group(heads / c.cache.kv_heads),
        padded(round_up(D, kLanes<float>)) {}

  static constexpr int64_t kMaxTiles = kMaxTaskQueries / kMaxRows;
  int64_t tile_floats() const { return kMaxRows * (D + padded); }
  int64_t scratch_bytes() const {
    const int64_t floats = kMaxTiles * tile_floats() + 2 * kMaxTaskQueries + kMaxRows * kBlockKeys;
    return align_up(floats * static_cast<int64_t>(sizeof(float)));
  }

  // Query n of a task in q or out: a head of a row.
  float* row(const Tensor& tensor, const PagedTask& task, int64_t g, int64_t n) const {
    return static_cast<float*>(tensor.data) + (task.first_row + n / per_group) * tensor.strides[0] +
           (g * per_group + n % per_group) * tensor.strides[1];
  }

  // Fills a tile with queries [first, first + count); further ones repeat the last.
  void load(const PagedTask& task, int64_t g, int64_t first, int64_t count, float* queries,
            Tile& tile) const {
    const auto scale = static_cast<float>(call.options.scale);
    const int64_t window = call.options.window, height = tile.height;
    tile.all = {std::numeric_limits<int64_t>::max(), 0};
    for (int64_t i = 0; i < height; ++i) {
      const int64_t n = smaller(first + i, first + count - 1);
      const float* from = row(call.q, task, g, n);
      for (int64_t d = 0; d < D; ++d) queries[d * height + i] = scale * from[d];
      const int64_t position = task.position + n / per_group;
      KeyRange keys{0, position + 1};
      if (window > 0 && keys.end > window) keys.begin = keys.end - window;
      tile.keys[i] = keys;
      tile.all = {smaller(tile.all.begin, keys.begin), larger(tile.all.end, keys.end)};
      tile.max[i] = std::numeric_limits<float>::lowest();
      tile.weight_sum[i] = 0;
    }
    std::memset(tile.sums, 0, static_cast<size_t>(height * padded) * sizeof(float));
    tile.queries = queries;
  }

  void run(const PagedTask& task, int64_t g) const {
    const int64_t num_queries = task.num_rows * per_group;
    for (int64_t first = 0; first < num_queries; first += kMaxTaskQueries)
      run_queries(task, g, first, smaller(kMaxTaskQueries, num_queries - first));
  }

 private:
  void run_queries(const PagedTask& task, int64_t g, int64_t first, int64_t count) const {
    float* const scores = reinterpret_cast<float*>(attention_thread_scratch(scratch_bytes()));
    float* const statistics = scores + kMaxRows * kBlockKeys;
    float* const rows = statistics + 2 * kMaxTaskQueries;
    const GroupPages<T> group{
        static_cast<const T*>(call.cache.pages.data) + g * 2 * kPageTokens * D, task.pages,
        call.cache.pages.shape[1], D};
    Tile tiles[kMaxTiles];
    // Of about equal heights: 8 queries are 4 and 4.
    const int64_t num_tiles = (count + kMaxRows - 1) / kMaxRows;
    const int64_t height = tile_height((count + num_tiles - 1) / num_tiles);
    KeyRange all{std::numeric_limits<int64_t>::max(), 0};
    for (int64_t t = 0; t < num_tiles; ++t) {
      Tile& tile = tiles[t];
      float* const queries = rows + t * tile_floats();
      const int64_t left = smaller(height, count - t * height);
      tile.height = tile_height(left);
      tile.sums = queries + kMaxRows * D;
      tile.max = statistics + t * kMaxRows;
      tile.weight_sum = tile.max + kMaxTaskQueries;
      load(task, g, first + t * height, left, queries, tile);
      all = {smaller(all.begin, tile.all.begin), larger(all.end, tile.all.end)};
    }
    const auto softcap = static_cast<float>(call.options.softcap);
    const int64_t first_block = all.begin / kBlockKeys * kBlockKeys;
    for (int64_t begin = first_block; begin < all.end; begin += kBlockKeys) {
      const bool last = begin + kBlockKeys >= all.end;
      // After the last block, the next group's first: this thread is likely to run it.
      const bool more = !last || g + 1 < call.cache.kv_heads;
      NextBlock<T> next;
      for (int64_t p = 0; p < kBlockPages; ++p) {
        const int64_t page = (last ? first_block : begin + kBlockKeys) / kPageTokens + p;
        next.keys[p] = group.keys(smaller(page, (all.end - 1) / kPageTokens)) +
                       (last ? 2 * kPageTokens * D : 0);
      }
      bool fetched = !more;
      for (int64_t t = 0; t < num_tiles; ++t) {
        if (!tiles[t].all.meets(begin, begin + kBlockKeys)) continue;
        attend(tiles[t], group, begin, fetched ? nullptr : &next, softcap, padded, scores);
        fetched = true;
      }
    }
    for (int64_t n = 0; n < count; ++n) {
      const Tile& tile = tiles[n / height];
      const float inverse = 1.0f / tile.weight_sum[n % height];
      const float* sums = tile.sums + n % height * padded;
      float* out = row(call.out, task, g, first + n);
      for (int64_t d = 0; d < D; ++d) out[d] = sums[d] * inverse;
    }
  }
};

template <class F>
void with_page_type(DType dtype, const F& f) {
  with_type<DType::BF16, DType::F32>(dtype, f);
}

template <class T>
void store_row(const float* k, const float* v, int64_t D, int64_t slot, T* group) {
  T* const values = group + kPageTokens * D + slot * D;
  for (int64_t d = 0; d < D; ++d) {
    if constexpr (std::is_same_v<T, Bf16>) {
      group[d * kPageTokens + slot] = Bf16::from_float(k[d]);
      values[d] = Bf16::from_float(v[d]);
    } else {
      group[d * kPageTokens + slot] = k[d];
      values[d] = v[d];
    }
  }
}

}  // namespace

void paged_attention(Context& ctx, const PagedAttention& call, std::span<const PagedTask> tasks) {
  const int64_t groups = call.cache.kv_heads;
  with_page_type(call.cache.pages.dtype, [&](auto element) {
    const Attention<decltype(element)> attention(call);
    ctx.pool->run(static_cast<int64_t>(tasks.size()) * groups, [&](int64_t task, int) {
      attention.run(tasks[static_cast<size_t>(task / groups)], task % groups);
    });
  });
}

void paged_store(Context& ctx, const Tensor& k, const Tensor& v, const PagedCache& cache,
                 std::span<const PagedTask> tasks) {
  const int64_t D = k.shape[2];
  with_page_type(cache.pages.dtype, [&](auto element) {
    using T = decltype(element);
    ctx.pool->run(static_cast<int64_t>(tasks.size()), [&](int64_t index, int) {
      const PagedTask& task = tasks[static_cast<size_t>(index)];
      for (int64_t i = 0; i < task.num_rows; ++i) {
        const int64_t row = task.first_row + i, position = task.position + i;
        T* page = static_cast<T*>(cache.pages.data) +
                  task.pages[position / kPageTokens] * cache.pages.shape[1];
        for (int64_t g = 0; g < cache.kv_heads; ++g)
          store_row(k.as<float>() + row * k.strides[0] + g * k.strides[1],
                    v.as<float>() + row * v.strides[0] + g * v.strides[1], D,
                    position % kPageTokens, page + g * 2 * kPageTokens * D);
      }
    });
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
