#include "ops/kernels/attention.h"

#include <type_traits>

#include "ops/cpu/attention_block.h"
#include "ops/cpu/attention_pairs.h"
#include "ops/cpu/kernel.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

// Cuts a thread's scratch into arrays.
class Scratch {
 public:
  explicit Scratch(std::byte* memory) : next_(memory) {}
  template <class E>
  E* take(int64_t count) {
    E* const array = reinterpret_cast<E*>(next_);
    next_ += round_up(count * static_cast<int64_t>(sizeof(E)), kVectorBytes);
    return array;
  }

 private:
  std::byte* next_;
};

template <class Real>
Visible<Real> take_visible(Scratch& scratch, int64_t segment) {
  Visible<Real> visible;
  visible.first = scratch.take<Real>(segment);
  visible.end = scratch.take<Real>(segment);
  visible.row_tiles = scratch.take<KeyRange>(segment / kTileRows);
  visible.lane_tiles = scratch.take<KeyRange>(segment / kTileLanes<Real>);
  visible.blocks = scratch.take<KeyRange>(segment / kQueryBlock);
  visible.shared = scratch.take<KeyRange>(segment / kQueryBlock);
  return visible;
}

template <class T>
HeadRows<T> head_rows(const Tensor& tensor, int64_t b, int64_t t, int64_t h) {
  const Shape& strides = tensor.strides;
  return {static_cast<T*>(tensor.data) + b * strides[0] + t * strides[1] + h * strides[2],
          strides[1]};
}

// Elements of lse(B, H, Tq) from query t on.
template <class Real>
Real* lse_row(const Tensor& lse, int64_t b, int64_t h, int64_t t) {
  return static_cast<Real*>(lse.data) + b * lse.strides[0] + h * lse.strides[1] + t;
}

int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}
int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

// Rows [begin, begin + count) of a segment, count 0 where it lies behind the end.
struct Segment {
  int64_t begin, count, padded;
  Segment(int64_t index, int64_t length, int64_t total, int64_t block)
      : begin(index * length),
        count(larger(0, smaller(length, total - begin))),
        padded(round_up(count, block)) {}
};

// dst(D, columns) = src(columns, D)ᵀ, both in words.
template <class Word>
void transpose_words(const Word* src, int64_t row_words, Word* dst, int64_t columns) {
  if constexpr (kDepth<Word> == 1) {
    transpose(src, row_words, dst, columns);
  } else {
    transpose(reinterpret_cast<const float*>(src), row_words, reinterpret_cast<float*>(dst),
              columns);
  }
}

template <class T, int kD>
struct Forward {
  using Real = Compute<T>;
  using Word = WordOf<T>;
  static constexpr bool kPairs = kDepth<Word> == 2;
  const Tensor &q, &k, &v, &out, &lse;
  const AttentionOptions& options;
  AttentionPlan plan;

  // One head of one segment of queries, over all the keys they see.
  void run(int64_t b, int64_t h, int64_t segment, Scratch scratch) const {
    const int64_t Tq = q.shape[1], Tk = k.shape[1], H = q.shape[2], G = k.shape[2];
    const Width<Real, kD> width{q.shape[3]};
    const int64_t padded = width.padded(), row_words = padded / kDepth<Word>;
    const Segment queries(segment, plan.query_segment, Tq, kQueryBlock);
    const int64_t num_blocks = queries.padded / kQueryBlock;
    const auto scale = static_cast<Real>(options.scale);

    const Visible<Real> visible = take_visible<Real>(scratch, plan.query_segment);
    Word* const columns =
        scratch.take<Word>(queries.padded * row_words);  // Qᵀ: (D, kQueryBlock) a block
    Real* const sums = scratch.take<Real>(queries.padded * padded);  // O: (queries, D)
    Real* const max = scratch.take<Real>(queries.padded);
    Real* const sum = scratch.take<Real>(queries.padded);
    Real* const rescale = scratch.take<Real>(kQueryBlock);
    Real* const scores = scratch.take<Real>(kKeyBlock * kQueryBlock);
    Word* const key_rows = scratch.take<Word>(kKeyBlock * row_words);
    Word* const value_rows = scratch.take<Word>(kKeyBlock * row_words);
    // Pairs of keys, of V and of the weights; numbers are used where they are.
    Word *value_pairs = value_rows, *weights = nullptr;
    if constexpr (kPairs) {
      value_pairs = scratch.take<Word>(kKeyBlock * row_words);
      weights = scratch.take<Word>(kKeyBlock * kQueryBlock / 2);
    } else {
      weights = scores;
    }

    visible.fill(options, b, Tq, Tk, queries.begin, queries.count, queries.padded);
    Word* const rows = reinterpret_cast<Word*>(sums);  // Q, until the sums begin
    pack_words<T>(head_rows<const T>(q, b, queries.begin, h), queries.count, width.D(), scale, rows,
                  queries.padded, row_words);
    KeyRange keys{Tk, 0};
    for (int64_t block = 0; block < num_blocks; ++block) {
      const int64_t offset = block * kQueryBlock * row_words;
      transpose_words(rows + offset, row_words, columns + offset, kQueryBlock);
      keys.begin = smaller(keys.begin, visible.blocks[block].begin);
      keys.end = larger(keys.end, visible.blocks[block].end);
    }
    std::memset(sums, 0, sizeof(Real) * static_cast<size_t>(queries.padded * padded));
    for (int64_t t = 0; t < queries.padded; ++t) {
      max[t] = std::numeric_limits<Real>::lowest();
      sum[t] = 0;
    }

    const int64_t g = h / (H / G);
    for (int64_t key = keys.begin / kKeyBlock * kKeyBlock; key < keys.end; key += kKeyBlock) {
      const int64_t count = smaller(kKeyBlock, Tk - key);
      pack_words<T>(head_rows<const T>(k, b, key, g), count, width.D(), Real{1}, key_rows,
                    kKeyBlock, row_words);
      pack_words<T>(head_rows<const T>(v, b, key, g), count, width.D(), Real{1}, value_rows,
                    kKeyBlock, row_words);
      if constexpr (kPairs) pair_rows(value_rows, row_words, kKeyBlock, value_pairs);
      for (int64_t block = 0; block < num_blocks; ++block) {
        if (!visible.blocks[block].meets(key, key + kKeyBlock)) continue;
        const BlockMask<Real> mask(visible, block, key);
        const int64_t query = block * kQueryBlock;
        const RunningSoftmax<Real> running{max + query, sum + query, rescale};
        const auto attend = [&]<bool kMasked> {
          score_gemm<kMasked>(width, key_rows, columns + query * row_words, mask, scores, scale);
          if (options.softcap > 0.0)
            cap_scores<kMasked>(mask, static_cast<Real>(options.softcap), scores);
          softmax_block<kMasked>(mask, scores, running);
          if constexpr (kPairs) pair_keys(scores, weights);
          query_gemm<Start::LoadScaled, kMasked>(width, weights, value_pairs, mask,
                                                 sums + query * padded, rescale);
        };
        const KeyRange shared = visible.shared[block];
        if (shared.begin <= key && shared.end >= key + kKeyBlock) {
          attend.template operator()<false>();
        } else {
          attend.template operator()<true>();
        }
      }
    }
    finish(b, h, queries, width, sums, max, sum);
  }

 private:
  void finish(int64_t b, int64_t h, const Segment& queries, Width<Real, kD> width, const Real* sums,
              Real* max, Real* sum) const {
    for (int64_t t = 0; t < queries.padded; t += kLanes<Real>) {
      const VectorOf<Real> total = load(sum + t);
      store(max + t, load(max + t) + log(total));
      store(sum + t, Real{1} / total);
    }
    const HeadRows<T> rows = head_rows<T>(out, b, queries.begin, h);
    for (int64_t t = 0; t < queries.count; ++t)
      unpack_rows<T>(sums + t * width.padded(), width.padded(), 1, width.D(), sum[t],
                     {rows[t], rows.stride}, false);
    std::memcpy(lse_row<Real>(lse, b, h, queries.begin), max,
                sizeof(Real) * static_cast<size_t>(queries.count));
  }
};

template <class T, int kD>
struct Backward {
  using Real = Compute<T>;
  using Word = WordOf<T>;
  static constexpr bool kPairs = kDepth<Word> == 2;
  const Tensor &dout, &q, &k, &v, &out, &lse, &dq, &dk, &dv;
  const AttentionOptions& options;
  AttentionPlan plan;

  // One group's segment of keys against one segment of the queries of each of its heads. The sums
  // replace what dq, dk and dv hold there, or are added to it.
  void run(int64_t b, int64_t g, int64_t query_segment, int64_t key_segment, bool accumulate,
           Scratch scratch) const {
    const int64_t Tq = q.shape[1], Tk = k.shape[1], num_heads = q.shape[2] / k.shape[2];
    const Width<Real, kD> width{q.shape[3]};
    const int64_t padded = width.padded(), row_words = padded / kDepth<Word>;
    const Segment queries(query_segment, plan.query_segment, Tq, kQueryBlock);
    const Segment keys(key_segment, plan.key_segment, Tk, kKeyBlock);

    const Visible<Real> visible = take_visible<Real>(scratch, plan.query_segment);
    visible.fill(options, b, Tq, Tk, queries.begin, queries.count, queries.padded);
    bool any = !accumulate;  // the first round writes even where nothing is seen
    for (int64_t block = 0; block < queries.padded / kQueryBlock; ++block)
      any |= visible.blocks[block].meets(keys.begin, keys.begin + keys.count);
    if (!any) return;

    const int64_t query_elements = queries.padded * padded, key_elements = keys.padded * padded;
    const int64_t query_words = queries.padded * row_words, key_words = keys.padded * row_words;
    const auto scale = static_cast<Real>(options.scale);
    Word* const key_rows = scratch.take<Word>(key_words);
    Word* const value_rows = scratch.take<Word>(key_words);
    Real* const dkey_rows = scratch.take<Real>(key_elements);
    Real* const dvalue_rows = scratch.take<Real>(key_elements);
    Queries head{scratch.take<Word>(query_words),    scratch.take<Word>(query_words),
                 scratch.take<Word>(query_words),    scratch.take<Word>(query_words),
                 scratch.take<Real>(query_elements), scratch.take<Real>(queries.padded),
                 scratch.take<Real>(queries.padded)};
    Real* const weights = scratch.take<Real>(kKeyBlock * kQueryBlock);
    Real* const dscores = scratch.take<Real>(kKeyBlock * kQueryBlock);
    BlockWords words;
    if constexpr (kPairs) {
      head.unpaired = scratch.take<Word>(query_words);
      for (Word** block : {&words.weights, &words.dscores, &words.dscores_by_keys})
        *block = scratch.take<Word>(kKeyBlock * kQueryBlock / 2);
      words.key_pairs = scratch.take<Word>(key_words);
    } else {
      words = {weights, dscores, dscores, key_rows};
    }

    pack_words<T>(head_rows<const T>(k, b, keys.begin, g), keys.count, width.D(), Real{1}, key_rows,
                  keys.padded, row_words);
    pack_words<T>(head_rows<const T>(v, b, keys.begin, g), keys.count, width.D(), Real{1},
                  value_rows, keys.padded, row_words);
    if constexpr (kPairs) pair_rows(key_rows, row_words, keys.padded, words.key_pairs);
    std::memset(dkey_rows, 0, sizeof(Real) * static_cast<size_t>(key_elements));
    std::memset(dvalue_rows, 0, sizeof(Real) * static_cast<size_t>(key_elements));

    for (int64_t h = g * num_heads; h < (g + 1) * num_heads; ++h) {
      load_queries(b, h, queries, width, head);
      for (int64_t key = 0; key < keys.padded; key += kKeyBlock) {
        const int64_t position = keys.begin + key;
        const int64_t key_row = key * padded, key_word = key * row_words;
        for (int64_t block = 0; block < queries.padded / kQueryBlock; ++block) {
          if (!visible.blocks[block].meets(position, position + kKeyBlock)) continue;
          const BlockMask<Real> mask(visible, block, position);
          const int64_t query = block * kQueryBlock;
          const int64_t query_row = query * padded, query_word = query * row_words;
          const auto attend = [&]<bool kMasked> {
            score_gemm<kMasked>(width, key_rows + key_word, head.columns + query_word, mask,
                                weights, scale);
            score_gemm<kMasked>(width, value_rows + key_word, head.dout_columns + query_word, mask,
                                dscores);
            if (options.softcap > 0.0) {
              const auto cap = static_cast<Real>(options.softcap);
              cap_scores<kMasked>(mask, cap, weights);
              softmax_backward_block<kMasked, true>(mask, head.lse + query, head.delta + query,
                                                    Real{1} / cap, weights, dscores);
            } else {
              softmax_backward_block<kMasked, false>(mask, head.lse + query, head.delta + query,
                                                     Real{0}, weights, dscores);
            }
            if constexpr (kPairs) {
              pair_queries(weights, words.weights);
              pair_queries(dscores, words.dscores);
              pair_keys(dscores, words.dscores_by_keys);
            }
            key_gemm<kMasked>(width, words.weights, head.dout_rows + query_word, mask,
                              dvalue_rows + key_row);
            key_gemm<kMasked>(width, words.dscores, head.rows + query_word, mask,
                              dkey_rows + key_row);
            query_gemm<Start::Load, kMasked>(width, words.dscores_by_keys,
                                             words.key_pairs + key_word, mask,
                                             head.drows + query_row);
          };
          const KeyRange shared = visible.shared[block];
          if (shared.begin <= position && shared.end >= position + kKeyBlock) {
            attend.template operator()<false>();
          } else {
            attend.template operator()<true>();
          }
        }
      }
      write(head.drows, queries, width, scale, dq, b, h, accumulate);
    }
    write(dkey_rows, keys, width, kPairs ? scale : Real{1}, dk, b, g, accumulate);
    write(dvalue_rows, keys, width, Real{1}, dv, b, g, accumulate);
  }

 private:
  // One head's segment of queries, packed: rows (queries, D), columns (D, kQueryBlock) a block.
  struct Queries {
    Word *rows, *columns;  // of scale · Q; of Q in pairs
    Word *dout_rows, *dout_columns;
    Real* drows;        // dQ / scale
    Real *lse, *delta;  // (queries); delta = Σ_d dout·out, what the softmax takes off each dweight
    Word* unpaired = nullptr;  // rows of pairs of dims, before they become pairs of rows
  };
  // What the GEMMs read of a block (kKeyBlock, kQueryBlock), and of K. Numbers are used where they
  // are; pairs are of queries, for dQ of keys.
  struct BlockWords {
    Word *weights, *dscores, *dscores_by_keys;
    Word* key_pairs;
  };

  // rows and columns of a segment's queries.
  void load_rows(HeadRows<const T> src, const Segment& queries, Width<Real, kD> width, Real scale,
                 const Queries& head, Word* rows, Word* columns) const {
    const int64_t row_words = width.padded() / kDepth<Word>;
    Word* const packed = kPairs ? head.unpaired : rows;
    pack_words<T>(src, queries.count, width.D(), scale, packed, queries.padded, row_words);
    for (int64_t row = 0; row < queries.padded * row_words; row += kQueryBlock * row_words)
      transpose_words(packed + row, row_words, columns + row, kQueryBlock);
    if constexpr (kPairs) pair_rows(packed, row_words, queries.padded, rows);
  }

  void load_queries(int64_t b, int64_t h, const Segment& queries, Width<Real, kD> width,
                    const Queries& head) const {
    const int64_t padded = width.padded();
    const HeadRows<const T> dout_rows = head_rows<const T>(dout, b, queries.begin, h);
    load_rows(head_rows<const T>(q, b, queries.begin, h), queries, width,
              static_cast<Real>(options.scale), head, head.rows, head.columns);
    load_rows(dout_rows, queries, width, Real{1}, head, head.dout_rows, head.dout_columns);
    std::memset(head.drows, 0, sizeof(Real) * static_cast<size_t>(queries.padded * padded));
    const HeadRows<const T> out_rows = head_rows<const T>(out, b, queries.begin, h);
    const Real* const saved_lse = lse_row<const Real>(lse, b, h, queries.begin);
    for (int64_t t = 0; t < queries.padded; ++t) {
      VectorOf<Real> delta{};
      if (t < queries.count) {
        for_each_vector<T>(
            width.D(), [&](int64_t d, auto count) __attribute__((always_inline)) {
              delta = fma(load_n(out_rows[t] + d, count), load_n(dout_rows[t] + d, count), delta);
            });
      }
      head.delta[t] = horizontal_sum(delta);
      head.lse[t] = t < queries.count ? saved_lse[t] : Real{0};
    }
  }

  void write(const Real* sums, const Segment& rows, Width<Real, kD> width, Real scale,
             const Tensor& gradient, int64_t b, int64_t h, bool accumulate) const {
    if (gradient.dtype == dtype_of<Real>()) {
      unpack_rows<Real>(sums, width.padded(), rows.count, width.D(), scale,
                        head_rows<Real>(gradient, b, rows.begin, h), accumulate);
    } else {
      unpack_rows<T>(sums, width.padded(), rows.count, width.D(), scale,
                     head_rows<T>(gradient, b, rows.begin, h), accumulate);
    }
  }
};

// Calls f<T, kD>() for the element type and head width. BF16 instructions are for BF16 alone.
template <class F>
void for_type_and_width(DType dtype, int64_t D, F f) {
  const auto for_width = [&]<class T> {
    switch (D) {
      case 32:
        return f.template operator()<T, 32>();
      case 64:
        return f.template operator()<T, 64>();
      case 128:
        return f.template operator()<T, 128>();
      default:
        return f.template operator()<T, 0>();
    }
  };
#if defined(INGOT_BF16_DOT)
  if (dtype == DType::BF16) for_width.template operator()<Bf16>();
#else
  with_float_type(dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, double>)
      f.template operator()<T, 0>();
    else
      for_width.template operator()<T>();
  });
#endif
}

// dst(B, T, H, D) BF16 = src(B, T, H, D) F32, contiguous.
void narrow(Context& ctx, const Tensor& src, const Tensor& dst) {
  const int64_t T = src.shape[1], H = src.shape[2], D = src.shape[3];
  ctx.pool->run(src.shape[0] * T, [&](int64_t row, int) {
    for (int64_t h = 0; h < H; ++h) {
      const HeadRows<const float> from = head_rows<const float>(src, row / T, row % T, h);
      const HeadRows<Bf16> to = head_rows<Bf16>(dst, row / T, row % T, h);
      for_each_vector<Bf16>(
          D, [&](int64_t d, auto count) __attribute__((always_inline)) {
            store_n(to[0] + d, load_n(from[0] + d, count), count);
          });
    }
  });
}

}  // namespace

void attention_forward(Context& ctx, const AttentionTensors& t, const AttentionOptions& options) {
  const int64_t B = t.q.shape[0], Tq = t.q.shape[1], H = t.q.shape[2], D = t.q.shape[3];
  const AttentionPlan plan = plan_attention(B * t.k.shape[2], Tq, t.k.shape[1]);
  const int64_t bytes = attention_thread_bytes(plan, t.q.dtype, D);
  for_type_and_width(t.q.dtype, D, [&]<class T, int kD> {
    const Forward<T, kD> forward{t.q, t.k, t.v, t.out, t.lse, options, plan};
    // The last queries see the most keys: they start first, so that no thread ends alone with one.
    ctx.pool->run(B * H * plan.num_segments, [&](int64_t task, int) {
      forward.run(task % (B * H) / H, task % H, plan.num_segments - 1 - task / (B * H),
                  Scratch(attention_thread_scratch(bytes)));
    });
  });
}

void attention_backward(Context& ctx, const AttentionTensors& t, const AttentionGradients& d,
                        const AttentionOptions& options) {
  const int64_t B = t.q.shape[0], G = t.k.shape[2], D = t.q.shape[3];
  const AttentionPlan plan = plan_attention(B * G, t.q.shape[1], t.k.shape[1]);
  const Workspace::Scope scope(ctx.workspace);
  const int64_t bytes = attention_thread_bytes(plan, t.q.dtype, D);
  // Where several tasks add to one gradient, the sum is rounded to BF16 once, at the end.
  const bool wide = t.q.dtype == DType::BF16 && plan.num_segments > 1;
  const Tensor gradients[] = {d.dq, d.dk, d.dv};
  Tensor sums[] = {d.dq, d.dk, d.dv};
  if (wide)
    for (Tensor& sum : sums) sum = ctx.workspace.take(DType::F32, sum.shape);
  for_type_and_width(t.q.dtype, D, [&]<class T, int kD> {
    const Backward<T, kD> backward{d.dout,  t.q,     t.k,     t.v,     t.out, t.lse,
                                   sums[0], sums[1], sums[2], options, plan};
    // In each round a segment of keys meets another segment of queries: no two tasks of a round
    // share a segment, so sums need neither locks nor copies and are taken in the order of rounds.
    for (int64_t round = 0; round < plan.num_segments; ++round) {
      ctx.pool->run(B * G * plan.num_segments, [&](int64_t task, int) {
        const int64_t key_segment = task / (B * G);
        backward.run(task % (B * G) / G, task % G, (key_segment + round) % plan.num_segments,
                     key_segment, round > 0, Scratch(attention_thread_scratch(bytes)));
      });
    }
  });
  if (wide)
    for (int i = 0; i < 3; ++i) narrow(ctx, sums[i], gradients[i]);
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
