#include "ops/kernels/attention.h"

#include <type_traits>

#include "ops/cpu/attention_block.h"
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

template <class T, int kD>
struct Forward {
  using Real = Compute<T>;
  const Tensor &q, &k, &v, &out, &lse;
  const AttentionOptions& options;
  AttentionPlan plan;

  // One head of one segment of queries, over all the keys they see.
  void run(int64_t b, int64_t h, int64_t segment, Scratch scratch) const {
    const int64_t Tq = q.shape[1], Tk = k.shape[1], H = q.shape[2], G = k.shape[2];
    const Width<Real, kD> width{q.shape[3]};
    const int64_t padded = width.padded();
    const Segment queries(segment, plan.query_segment, Tq, kQueryBlock);
    const int64_t num_blocks = queries.padded / kQueryBlock;

    const Visible<Real> visible = take_visible<Real>(scratch, plan.query_segment);
    Real* const columns =
        scratch.take<Real>(queries.padded * padded);  // Qᵀ: (D, kQueryBlock) a block
    Real* const sums = scratch.take<Real>(queries.padded * padded);  // O: (queries, D)
    Real* const max = scratch.take<Real>(queries.padded);
    Real* const sum = scratch.take<Real>(queries.padded);
    Real* const rescale = scratch.take<Real>(kQueryBlock);
    Real* const scores = scratch.take<Real>(kKeyBlock * kQueryBlock);
    Real* const key_rows = scratch.take<Real>(kKeyBlock * padded);
    Real* const value_rows = scratch.take<Real>(kKeyBlock * padded);

    visible.fill(options, b, Tq, Tk, queries.begin, queries.count, queries.padded);
    pack_rows(head_rows<const T>(q, b, queries.begin, h), queries.count, width.D(),
              static_cast<Real>(options.scale), sums, queries.padded, padded);
    KeyRange keys{Tk, 0};
    for (int64_t block = 0; block < num_blocks; ++block) {
      const int64_t offset = block * kQueryBlock * padded;
      transpose(sums + offset, padded, columns + offset, kQueryBlock);
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
      pack_rows(head_rows<const T>(k, b, key, g), count, width.D(), Real{1}, key_rows, kKeyBlock,
                padded);
      pack_rows(head_rows<const T>(v, b, key, g), count, width.D(), Real{1}, value_rows, kKeyBlock,
                padded);
      for (int64_t block = 0; block < num_blocks; ++block) {
        if (!visible.blocks[block].meets(key, key + kKeyBlock)) continue;
        const BlockMask<Real> mask(visible, block, key);
        const int64_t query = block * kQueryBlock;
        const RunningSoftmax<Real> running{max + query, sum + query, rescale};
        const auto attend = [&]<bool kMasked> {
          score_gemm<kMasked>(width, key_rows, columns + query * padded, mask, scores);
          if (options.softcap > 0.0)
            cap_scores<kMasked>(mask, static_cast<Real>(options.softcap), scores);
          softmax_block<kMasked>(mask, scores, running);
          query_gemm<Start::LoadScaled, kMasked>(width, scores, value_rows, mask,
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
  const Tensor &dout, &q, &k, &v, &out, &lse, &dq, &dk, &dv;
  const AttentionOptions& options;
  AttentionPlan plan;

  // One group's segment of keys against one segment of the queries of each of its heads. The sums
  // replace what dq, dk and dv hold there, or are added to it.
  void run(int64_t b, int64_t g, int64_t query_segment, int64_t key_segment, bool accumulate,
           Scratch scratch) const {
    const int64_t Tq = q.shape[1], Tk = k.shape[1], num_heads = q.shape[2] / k.shape[2];
    const Width<Real, kD> width{q.shape[3]};
    const int64_t padded = width.padded();
    const Segment queries(query_segment, plan.query_segment, Tq, kQueryBlock);
    const Segment keys(key_segment, plan.key_segment, Tk, kKeyBlock);

    const Visible<Real> visible = take_visible<Real>(scratch, plan.query_segment);
    visible.fill(options, b, Tq, Tk, queries.begin, queries.count, queries.padded);
    bool any = !accumulate;  // the first round writes even where nothing is seen
    for (int64_t block = 0; block < queries.padded / kQueryBlock; ++block)
      any |= visible.blocks[block].meets(keys.begin, keys.begin + keys.count);
    if (!any) return;

    const int64_t query_elements = queries.padded * padded, key_elements = keys.padded * padded;
    Real* const key_rows = scratch.take<Real>(key_elements);
    Real* const value_rows = scratch.take<Real>(key_elements);
    Real* const dkey_rows = scratch.take<Real>(key_elements);
    Real* const dvalue_rows = scratch.take<Real>(key_elements);
    const Queries head{scratch.take<Real>(query_elements), scratch.take<Real>(query_elements),
                       scratch.take<Real>(query_elements), scratch.take<Real>(query_elements),
                       scratch.take<Real>(query_elements), scratch.take<Real>(queries.padded),
                       scratch.take<Real>(queries.padded)};
    Real* const weights = scratch.take<Real>(kKeyBlock * kQueryBlock);
    Real* const dscores = scratch.take<Real>(kKeyBlock * kQueryBlock);

    pack_rows(head_rows<const T>(k, b, keys.begin, g), keys.count, width.D(), Real{1}, key_rows,
              keys.padded, padded);
    pack_rows(head_rows<const T>(v, b, keys.begin, g), keys.count, width.D(), Real{1}, value_rows,
              keys.padded, padded);
    std::memset(dkey_rows, 0, sizeof(Real) * static_cast<size_t>(key_elements));
    std::memset(dvalue_rows, 0, sizeof(Real) * static_cast<size_t>(key_elements));

    for (int64_t h = g * num_heads; h < (g + 1) * num_heads; ++h) {
      load_queries(b, h, queries, width, head);
      for (int64_t key = 0; key < keys.padded; key += kKeyBlock) {
        const int64_t position = keys.begin + key, key_row = key * padded;
        for (int64_t block = 0; block < queries.padded / kQueryBlock; ++block) {
          if (!visible.blocks[block].meets(position, position + kKeyBlock)) continue;
          const BlockMask<Real> mask(visible, block, position);
          const int64_t query = block * kQueryBlock, query_row = query * padded;
          const auto attend = [&]<bool kMasked> {
            score_gemm<kMasked>(width, key_rows + key_row, head.columns + query_row, mask, weights);
            score_gemm<kMasked>(width, value_rows + key_row, head.dout_columns + query_row, mask,
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
            key_gemm<kMasked>(width, weights, head.dout_rows + query_row, mask,
                              dvalue_rows + key_row);
            key_gemm<kMasked>(width, dscores, head.rows + query_row, mask, dkey_rows + key_row);
            query_gemm<Start::Load, kMasked>(width, dscores, key_rows + key_row, mask,
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
      write(head.drows, queries, width, static_cast<Real>(options.scale), dq, b, h, accumulate);
    }
    write(dkey_rows, keys, width, Real{1}, dk, b, g, accumulate);
    write(dvalue_rows, keys, width, Real{1}, dv, b, g, accumulate);
  }

 private:
  // One head's segment of queries, packed: rows (queries, D), columns (D, kQueryBlock) a block.
  struct Queries {
    Real *rows, *columns;  // of scale · Q
    Real *dout_rows, *dout_columns;
    Real* drows;        // dQ / scale
    Real *lse, *delta;  // (queries); delta = Σ_d dout·out, what the softmax takes off each dweight
  };

  void load_queries(int64_t b, int64_t h, const Segment& queries, Width<Real, kD> width,
                    const Queries& head) const {
    const int64_t padded = width.padded();
    pack_rows(head_rows<const T>(q, b, queries.begin, h), queries.count, width.D(),
              static_cast<Real>(options.scale), head.rows, queries.padded, padded);
    pack_rows(head_rows<const T>(dout, b, queries.begin, h), queries.count, width.D(), Real{1},
              head.dout_rows, queries.padded, padded);
    for (int64_t row = 0; row < queries.padded * padded; row += kQueryBlock * padded) {
      transpose(head.rows + row, padded, head.columns + row, kQueryBlock);
      transpose(head.dout_rows + row, padded, head.dout_columns + row, kQueryBlock);
    }
    std::memset(head.drows, 0, sizeof(Real) * static_cast<size_t>(queries.padded * padded));
    const HeadRows<const T> out_rows = head_rows<const T>(out, b, queries.begin, h);
    const Real* const saved_lse = lse_row<const Real>(lse, b, h, queries.begin);
    for (int64_t t = 0; t < queries.padded; ++t) {
      VectorOf<Real> delta{};
      if (t < queries.count) {
        for_each_vector<T>(
            width.D(), [&](int64_t d, auto count) __attribute__((always_inline)) {
              delta =
                  fma(load_n(out_rows[t] + d, count), load(head.dout_rows + t * padded + d), delta);
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

// Calls f<T, kD>() for the element type and head width.
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
  with_float_type(dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, double>)
      f.template operator()<T, 0>();
    else
      for_width.template operator()<T>();
  });
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
