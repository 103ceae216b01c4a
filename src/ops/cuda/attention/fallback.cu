#include "ops/cuda/attention/fallback.h"

#include <algorithm>
#include <type_traits>

#include "ops/cuda/common/device.cuh"

namespace ingot::cuda {
namespace {

constexpr int kSide = 16;  // a block is kSide × kSide threads: thread (ty, tx), tx fastest
constexpr int kThreads = kSide * kSide;

// A (B, T, heads, D) tensor with its strides in elements; the last is 1.
template <class T>
struct Heads {
  T* data;
  int64_t batch, token, head;
  __device__ T* rows(int64_t b, int64_t h) const { return data + b * batch + h * head; }
};

struct KeyRange {
  int begin, end;
};

struct Problem {
  int B, Tq, Tk, H, G, D;
  double scale, softcap;  // 0: no cap
  bool causal;
  int window;                      // 0: none
  const int32_t* document_start;   // (B, Tq) or null
  int64_t document_b, document_t;  // its strides
  bool vectors;                    // every row of q, k, v and dout can be read as Vec<T>

  // A score for the softmax, from the dot product of query and key.
  template <bool kCapped, class Real>
  __device__ __forceinline__ Real score(Real dot) const {
    if constexpr (!kCapped) return dot * static_cast<Real>(scale);
    const auto cap = static_cast<Real>(softcap);
    return cap * tanh(dot * static_cast<Real>(scale) / cap);
  }
  // d score / d(scale · dot product), where `capped` is the score.
  template <bool kCapped, class Real>
  __device__ __forceinline__ Real times_slope(Real gradient, Real capped) const {
    if constexpr (!kCapped) return gradient;
    const Real part = capped / static_cast<Real>(softcap);
    return gradient * (Real{1} - part * part);
  }

  // The keys that query t of row b sees; none beyond the last query.
  __device__ KeyRange visible(int b, int t) const {
    if (t >= Tq) return {Tk, 0};
    const int end = causal ? Tk - Tq + t + 1 : Tk;
    int begin = window > 0 ? max(0, end - window) : 0;
    if (document_start != nullptr)
      begin = max(begin, document_start[b * document_b + t * document_t]);
    return {begin, end};
  }
};

// How elements of T with at most kD_ dims are tiled: kRows queries meet kRows keys. Tiles lie in
// shared memory in the type of the computation, dims beyond D and rows beyond T zero. Halved ones
// are for GPUs with little of it, and for capped scores, which are rare.
template <class T, int kD_, bool kHalved, bool kCapped_ = false>
struct Tiling {
  using Element = T;
  using Real = Compute<T>;
  static constexpr int kD = kD_;
  static constexpr bool kCapped = kCapped_;
  static constexpr int kRowBytes = kD * static_cast<int>(sizeof(Real));
  static constexpr int kWholeRows = kRowBytes <= 512 ? 64 : kRowBytes <= 1024 ? 32 : 16;
  static constexpr int kRows = kHalved ? std::max(kSide, kWholeRows / 2) : kWholeRows;
  static constexpr int kVec = Vec<Real>::kSize;
  // One vector more than a row, so that vectors of eight rows at one column lie in different banks.
  static constexpr int kPitch = kD + kVec;
  static constexpr int kWeightPitch = kRows + kVec;
  static constexpr int kTile = kRows * kPitch;           // elements of (kRows, D)
  static constexpr int kWeights = kRows * kWeightPitch;  // elements of (kRows, kRows)
  static constexpr int kPerThread = kRows / kSide;  // rows, and columns of weights, a thread has
  static constexpr int kColumns = kD / kSide;       // columns of a (kRows, D) sum it has
  // Shared memory of each kernel, in elements.
  static constexpr int kForward = 3 * kTile + kWeights;
  static constexpr int kQueryGradient = 4 * kTile + kWeights;
  static constexpr int kKeyGradient = 4 * kTile + 2 * kWeights;

  static __device__ int tx() { return static_cast<int>(threadIdx.x) % kSide; }
  static __device__ int row(int i) { return static_cast<int>(threadIdx.x) / kSide + i * kSide; }
  static __device__ int other(int j) { return tx() + j * kSide; }
  // The column of a thread's c-th sum: vectors of kVec, kSide of them side by side.
  static __device__ int column(int c) { return (c / kVec * kSide + tx()) * kVec + c % kVec; }
};

// Rows [row0, row0 + kRows) of `from`, of which there are `num_rows`, `stride` apart.
template <class X, class T = typename X::Element>
__device__ void load_tile(const Problem& p, const T* from, int64_t stride, int row0, int num_rows,
                          Compute<T>* tile) {
  constexpr int kD = X::kD;
  if (p.vectors) {
    constexpr int kSize = Vec<T>::kSize, kVecs = kD / kSize;
    for (int i = static_cast<int>(threadIdx.x); i < X::kRows * kVecs; i += kThreads) {
      const int r = i / kVecs, c = i % kVecs * kSize;
      const bool there = row0 + r < num_rows && c < p.D;
      Vec<T> vec;
      if (there) vec = load_vec(from + (row0 + r) * stride + c);
#pragma unroll
      for (int e = 0; e < kSize; e += X::kVec) {
        Vec<Compute<T>> part;
#pragma unroll
        for (int x = 0; x < X::kVec; ++x)
          part.v[x] = there ? static_cast<Compute<T>>(vec.v[e + x]) : Compute<T>{0};
        *reinterpret_cast<Vec<Compute<T>>*>(tile + r * X::kPitch + c + e) = part;
      }
    }
  } else {
    for (int i = static_cast<int>(threadIdx.x); i < X::kRows * kD; i += kThreads) {
      const int r = i / kD, c = i % kD;
      const bool there = row0 + r < num_rows && c < p.D;
      tile[r * X::kPitch + c] =
          there ? static_cast<Compute<T>>(from[(row0 + r) * stride + c]) : Compute<T>{0};
    }
  }
}

// result[i][j] = row(i) of a times row other(j) of b, both (kRows, D).
template <class X, class Real = typename X::Real, int n = X::kPerThread>
__device__ __forceinline__ void multiply_rows(const Real* a, const Real* b, Real (&result)[n][n]) {
#pragma unroll
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int j = 0; j < n; ++j) result[i][j] = 0;
#pragma unroll 4
  for (int d = 0; d < X::kPitch - X::kVec; d += X::kVec) {
    Vec<Real> left[n], right[n];
#pragma unroll
    for (int i = 0; i < n; ++i) {
      left[i] = load_vec(a + X::row(i) * X::kPitch + d);
      right[i] = load_vec(b + X::other(i) * X::kPitch + d);
    }
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int j = 0; j < n; ++j)
#pragma unroll
        for (int e = 0; e < X::kVec; ++e) result[i][j] += left[i].v[e] * right[j].v[e];
  }
}

// sums[i][c] += row(i) of weights(kRows, kRows) times column(c) of values(kRows, D).
template <class X, class Real = typename X::Real, int n = X::kPerThread>
__device__ __forceinline__ void add_weighted(const Real* weights, const Real* values,
                                             Real (&sums)[n][X::kColumns]) {
#pragma unroll 2
  for (int k = 0; k < X::kRows; k += X::kVec) {
    Vec<Real> weight[n];
#pragma unroll
    for (int i = 0; i < n; ++i) weight[i] = load_vec(weights + X::row(i) * X::kWeightPitch + k);
#pragma unroll
    for (int e = 0; e < X::kVec; ++e)
#pragma unroll
      for (int c = 0; c < X::kColumns; c += X::kVec) {
        const Vec<Real> value = load_vec(values + (k + e) * X::kPitch + X::column(c));
#pragma unroll
        for (int i = 0; i < n; ++i)
#pragma unroll
          for (int x = 0; x < X::kVec; ++x) sums[i][c + x] += weight[i].v[e] * value.v[x];
      }
  }
}

// Writes scale[i] · sums[i] to rows [row0, row0 + kRows) of `to`, as far as there are such rows.
template <class X, class T, class Real = typename X::Real, int n = X::kPerThread>
__device__ void store_rows(const Problem& p, const Real (&sums)[n][X::kColumns],
                           const Real (&scale)[n], T* to, int64_t stride, int row0, int num_rows) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    if (row0 + X::row(i) >= num_rows) continue;
    T* const row = to + (row0 + X::row(i)) * stride;
#pragma unroll
    for (int c = 0; c < X::kColumns; ++c)
      if (X::column(c) < p.D) row[X::column(c)] = static_cast<T>(sums[i][c] * scale[i]);
  }
}

// What the queries of a tile see: each one's interval, and the hull of all.
template <int kRows>
struct VisibleTile {
  int begin[kRows], end[kRows];

  __device__ void fill(const Problem& p, int b, int query0) {
    if (threadIdx.x < kRows) {
      const KeyRange keys = p.visible(b, query0 + static_cast<int>(threadIdx.x));
      begin[threadIdx.x] = keys.begin;
      end[threadIdx.x] = keys.end;
    }
  }
  __device__ bool sees(int query, int key) const { return key >= begin[query] && key < end[query]; }
  __device__ KeyRange hull() const {
    KeyRange keys{begin[0], end[0]};
    for (int i = 1; i < kRows; ++i) {
      keys.begin = min(keys.begin, begin[i]);
      keys.end = max(keys.end, end[i]);
    }
    return keys;
  }
};

// Block -> (row, head, first query). Under causality the last queries see most: they start first.
template <int kRows>
struct QueryTile {
  int b, h, g, query0;
  __device__ explicit QueryTile(const Problem& p) {
    const int num_tiles = (p.Tq + kRows - 1) / kRows;
    const int head = static_cast<int>(blockIdx.x % static_cast<unsigned>(p.B * p.H));
    b = head / p.H;
    h = head % p.H;
    g = h / (p.H / p.G);
    query0 =
        (num_tiles - 1 - static_cast<int>(blockIdx.x / static_cast<unsigned>(p.B * p.H))) * kRows;
  }
};

// One block: the output of kRows queries of one head, over all the keys they see.
// Shared: Q, K, V tiles, weights.
template <class X, class T = typename X::Element>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(Problem p, Heads<const T> q, Heads<const T> k, Heads<const T> v, Heads<T> out,
                   Compute<T>* lse) {
  using Real = typename X::Real;
  constexpr int n = X::kPerThread;
  extern __shared__ uint4 memory[];
  Real* const q_tile = reinterpret_cast<Real*>(memory);
  Real* const k_tile = q_tile + X::kTile;
  Real* const v_tile = k_tile + X::kTile;
  Real* const weights = v_tile + X::kTile;  // (queries, keys)
  __shared__ VisibleTile<X::kRows> visible;

  const QueryTile<X::kRows> at(p);
  visible.fill(p, at.b, at.query0);
  load_tile<X>(p, q.rows(at.b, at.h), q.token, at.query0, p.Tq, q_tile);
  __syncthreads();

  Real sums[n][X::kColumns] = {}, max[n], sum[n] = {};
  for (int i = 0; i < n; ++i) max[i] = -INFINITY;
  const KeyRange keys = visible.hull();
  for (int key0 = keys.begin / X::kRows * X::kRows; key0 < keys.end; key0 += X::kRows) {
    load_tile<X>(p, k.rows(at.b, at.g), k.token, key0, p.Tk, k_tile);
    load_tile<X>(p, v.rows(at.b, at.g), v.token, key0, p.Tk, v_tile);
    __syncthreads();
    Real scores[n][n];
    multiply_rows<X>(q_tile, k_tile, scores);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      bool seen[n];
      Real tile_max = -INFINITY;
#pragma unroll
      for (int j = 0; j < n; ++j) {
        seen[j] = visible.sees(X::row(i), key0 + X::other(j));
        scores[i][j] = p.score<X::kCapped>(scores[i][j]);
        if (seen[j]) tile_max = fmax(tile_max, scores[i][j]);
      }
      tile_max = warp_reduce<kSide>(tile_max, [](Real a, Real b) { return fmax(a, b); });
      const Real new_max = fmax(max[i], tile_max);
      // Nothing seen so far: any finite shift keeps the zeros zero.
      const Real shift = new_max == -INFINITY ? Real{0} : new_max;
      const Real rescale = exp(max[i] - shift);
      max[i] = new_max;
      Real tile_sum = 0;
#pragma unroll
      for (int j = 0; j < n; ++j) {
        const Real weight = seen[j] ? exp(scores[i][j] - shift) : Real{0};
        weights[X::row(i) * X::kWeightPitch + X::other(j)] = weight;
        tile_sum += weight;
      }
      sum[i] = sum[i] * rescale + warp_reduce<kSide>(tile_sum, Add{});
#pragma unroll
      for (int c = 0; c < X::kColumns; ++c) sums[i][c] *= rescale;
    }
    __syncthreads();
    add_weighted<X>(weights, v_tile, sums);
    __syncthreads();  // before the tiles are overwritten
  }

  Real inverse[n];
  for (int i = 0; i < n; ++i) {
    inverse[i] = Real{1} / sum[i];
    const int t = at.query0 + X::row(i);
    if (t < p.Tq && X::tx() == 0)
      lse[(int64_t{at.b} * p.H + at.h) * p.Tq + t] = max[i] + log(sum[i]);
  }
  store_rows<X>(p, sums, inverse, out.rows(at.b, at.h), out.token, at.query0, p.Tq);
}

// One block: dq of kRows queries of one head; also delta(B, H, Tq) = Σ dout · out for the other
// kernel. Shared: Q, dout, K, V tiles, weights.
template <class X, class T = typename X::Element>
__global__ void __launch_bounds__(kThreads)
    query_gradient_kernel(Problem p, Heads<const T> dout, Heads<const T> q, Heads<const T> k,
                          Heads<const T> v, Heads<const T> out, const Compute<T>* lse,
                          Compute<T>* delta, Heads<T> dq) {
  using Real = typename X::Real;
  constexpr int n = X::kPerThread;
  extern __shared__ uint4 memory[];
  Real* const q_tile = reinterpret_cast<Real*>(memory);
  Real* const dout_tile = q_tile + X::kTile;
  Real* const k_tile = dout_tile + X::kTile;
  Real* const v_tile = k_tile + X::kTile;
  Real* const dscores = v_tile + X::kTile;  // (queries, keys)
  __shared__ VisibleTile<X::kRows> visible;

  const QueryTile<X::kRows> at(p);
  visible.fill(p, at.b, at.query0);
  load_tile<X>(p, q.rows(at.b, at.h), q.token, at.query0, p.Tq, q_tile);
  load_tile<X>(p, dout.rows(at.b, at.h), dout.token, at.query0, p.Tq, dout_tile);
  __syncthreads();

  Real row_lse[n], row_delta[n], scale[n];
  for (int i = 0; i < n; ++i) {
    const int t = at.query0 + X::row(i);
    const int64_t index = (int64_t{at.b} * p.H + at.h) * p.Tq + t;
    Real sum = 0;
    if (t < p.Tq) {
      const T* const out_row = out.rows(at.b, at.h) + t * out.token;
      for (int c = X::tx(); c < p.D; c += kSide)
        sum += dout_tile[X::row(i) * X::kPitch + c] * static_cast<Real>(out_row[c]);
    }
    row_delta[i] = warp_reduce<kSide>(sum, Add{});
    row_lse[i] = t < p.Tq ? lse[index] : Real{0};
    scale[i] = static_cast<Real>(p.scale);
    if (t < p.Tq && X::tx() == 0) delta[index] = row_delta[i];
  }

  Real sums[n][X::kColumns] = {};
  const KeyRange keys = visible.hull();
  for (int key0 = keys.begin / X::kRows * X::kRows; key0 < keys.end; key0 += X::kRows) {
    load_tile<X>(p, k.rows(at.b, at.g), k.token, key0, p.Tk, k_tile);
    load_tile<X>(p, v.rows(at.b, at.g), v.token, key0, p.Tk, v_tile);
    __syncthreads();
    Real scores[n][n], dweights[n][n];
    multiply_rows<X>(q_tile, k_tile, scores);
    multiply_rows<X>(dout_tile, v_tile, dweights);
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int j = 0; j < n; ++j) {
        const bool seen = visible.sees(X::row(i), key0 + X::other(j));
        const Real score = p.score<X::kCapped>(scores[i][j]);
        const Real dscore = exp(score - row_lse[i]) * (dweights[i][j] - row_delta[i]);
        dscores[X::row(i) * X::kWeightPitch + X::other(j)] =
            seen ? p.times_slope<X::kCapped>(dscore, score) : Real{0};
      }
    __syncthreads();
    add_weighted<X>(dscores, k_tile, sums);
    __syncthreads();  // before the tiles are overwritten
  }
  store_rows<X>(p, sums, scale, dq.rows(at.b, at.h), dq.token, at.query0, p.Tq);
}

// One block: dk and dv of kRows keys of one group, over the queries of the group's heads, one head
// after the other. Shared: K, V, Q, dout tiles, weights, dscores.
template <class X, class T = typename X::Element>
__global__ void __launch_bounds__(kThreads)
    key_gradient_kernel(Problem p, Heads<const T> dout, Heads<const T> q, Heads<const T> k,
                        Heads<const T> v, const Compute<T>* lse, const Compute<T>* delta,
                        Heads<T> dk, Heads<T> dv) {
  using Real = typename X::Real;
  constexpr int n = X::kPerThread;
  extern __shared__ uint4 memory[];
  Real* const k_tile = reinterpret_cast<Real*>(memory);
  Real* const v_tile = k_tile + X::kTile;
  Real* const q_tile = v_tile + X::kTile;
  Real* const dout_tile = q_tile + X::kTile;
  Real* const weights = dout_tile + X::kTile;   // (keys, queries)
  Real* const dscores = weights + X::kWeights;  // (keys, queries)
  __shared__ VisibleTile<X::kRows> visible;
  __shared__ Real query_lse[X::kRows], query_delta[X::kRows];

  const int group = static_cast<int>(blockIdx.x % static_cast<unsigned>(p.B * p.G));
  const int b = group / p.G, g = group % p.G, heads = p.H / p.G;
  const int key0 = static_cast<int>(blockIdx.x / static_cast<unsigned>(p.B * p.G)) * X::kRows;
  load_tile<X>(p, k.rows(b, g), k.token, key0, p.Tk, k_tile);
  load_tile<X>(p, v.rows(b, g), v.token, key0, p.Tk, v_tile);

  // Causality and the window bound the queries that may see these keys; documents are found tile by
  // tile.
  const int ahead = p.Tk - p.Tq;
  const int query_begin = p.causal ? max(0, key0 - ahead) : 0;
  const int query_end = p.window > 0 ? min(p.Tq, key0 + X::kRows - 1 + p.window - ahead) : p.Tq;
  const Real scale = static_cast<Real>(p.scale);
  Real dk_sums[n][X::kColumns] = {}, dv_sums[n][X::kColumns] = {};
  for (int h = g * heads; h < (g + 1) * heads; ++h)
    for (int query0 = query_begin / X::kRows * X::kRows; query0 < query_end; query0 += X::kRows) {
      // Nobody reads the last round's intervals any more: all threads have left its weights behind.
      visible.fill(p, b, query0);
      bool meets = false;
      if (threadIdx.x < X::kRows) {
        const int r = static_cast<int>(threadIdx.x), t = query0 + r;
        const int64_t index = (int64_t{b} * p.H + h) * p.Tq + t;
        query_lse[r] = t < p.Tq ? lse[index] : Real{0};
        query_delta[r] = t < p.Tq ? delta[index] : Real{0};
        meets = visible.begin[r] < key0 + X::kRows && visible.end[r] > key0;
      }
      if (!__syncthreads_or(meets)) continue;
      load_tile<X>(p, q.rows(b, h), q.token, query0, p.Tq, q_tile);
      load_tile<X>(p, dout.rows(b, h), dout.token, query0, p.Tq, dout_tile);
      __syncthreads();
      Real scores[n][n], dweights[n][n];
      multiply_rows<X>(k_tile, q_tile, scores);
      multiply_rows<X>(v_tile, dout_tile, dweights);
#pragma unroll
      for (int j = 0; j < n; ++j) {
        const int query = X::other(j);
#pragma unroll
        for (int i = 0; i < n; ++i) {
          const bool seen = visible.sees(query, key0 + X::row(i));
          const Real score = p.score<X::kCapped>(scores[i][j]);
          const Real weight = seen ? exp(score - query_lse[query]) : Real{0};
          const int slot = X::row(i) * X::kWeightPitch + query;
          weights[slot] = weight;
          const Real dscore = weight * (dweights[i][j] - query_delta[query]);
          dscores[slot] = seen ? p.times_slope<X::kCapped>(dscore, score) : Real{0};
        }
      }
      __syncthreads();
      add_weighted<X>(weights, dout_tile, dv_sums);
      add_weighted<X>(dscores, q_tile, dk_sums);
    }

  Real dk_scale[n], dv_scale[n];
  for (int i = 0; i < n; ++i) {
    dk_scale[i] = scale;
    dv_scale[i] = 1;
  }
  store_rows<X>(p, dk_sums, dk_scale, dk.rows(b, g), dk.token, key0, p.Tk);
  store_rows<X>(p, dv_sums, dv_scale, dv.rows(b, g), dv.token, key0, p.Tk);
}

template <class T>
Heads<T> heads_of(const Tensor& tensor) {
  return {static_cast<T*>(tensor.data), tensor.strides[0], tensor.strides[1], tensor.strides[2]};
}

bool rows_fit_vec(const Tensor& tensor) {
  const int64_t bytes = size_of(tensor.dtype);
  bool fits = reinterpret_cast<uintptr_t>(tensor.data) % 16 == 0;
  for (int dim = 0; dim < 3; ++dim) fits = fits && tensor.strides[dim] * bytes % 16 == 0;
  return fits && tensor.shape[3] * bytes % 16 == 0;
}

Problem problem_of(const Tensor& q, const Tensor& k, const Tensor& v,
                   const AttentionOptions& options) {
  const int64_t D = q.shape[3], Tk = k.shape[1];
  check(D <= kMaxCudaHeadDim, ErrorCode::Missing,
        "attention on a GPU: expected head sizes up to {}, got {}", kMaxCudaHeadDim, D);
  const Tensor& documents = options.document_start;
  return {.B = static_cast<int>(q.shape[0]),
          .Tq = static_cast<int>(q.shape[1]),
          .Tk = static_cast<int>(Tk),
          .H = static_cast<int>(q.shape[2]),
          .G = static_cast<int>(k.shape[2]),
          .D = static_cast<int>(D),
          .scale = options.scale,
          .softcap = options.softcap,
          .causal = options.causal,
          .window = static_cast<int>(std::min(options.window, Tk)),
          .document_start = static_cast<const int32_t*>(documents.data),
          .document_b = documents.defined() ? documents.strides[0] : 0,
          .document_t = documents.defined() ? documents.strides[1] : 0,
          .vectors = rows_fit_vec(q) && rows_fit_vec(k) && rows_fit_vec(v)};
}

// Calls f(Tiling<T, the smallest kD that holds D, …>{}), with whole tiles if num_elements() of
// them leave room for the kernels' own variables in `shared_bytes`.
template <class NumElements, class F>
void with_tiling(DType dtype, const Problem& p, int64_t shared_bytes,
                 const NumElements& num_elements, const F& f) {
  const auto with_width = [&]<class T, int kD>(T, std::integral_constant<int, kD>) {
    constexpr int64_t kVariables = 2048;
    constexpr int64_t kSize = sizeof(Compute<T>);
    using Whole = Tiling<T, kD, false>;
    using Halved = Tiling<T, kD, true>;
    // sm_86, 89 and 120 have least of what Ingot is built for. F64 is for tests.
    static_assert(kSize == 8 || Halved::kKeyGradient * kSize + kVariables <= 99 * 1024);
    if (p.softcap > 0.0)
      f(Tiling<T, kD, true, true>{});
    else if (num_elements(Whole{}) * kSize + kVariables <= shared_bytes)
      f(Whole{});
    else
      f(Halved{});
  };
  with_device_type(dtype, [&](auto element) {
    if (p.D <= 64)
      with_width(element, std::integral_constant<int, 64>{});
    else if (p.D <= 128)
      with_width(element, std::integral_constant<int, 128>{});
    else
      with_width(element, std::integral_constant<int, kMaxCudaHeadDim>{});
  });
}

template <class Real, class... Parameters, class... Arguments>
void launch_tiles(const Context& ctx, int64_t num_blocks, int num_elements,
                  void (*kernel)(Parameters...), Arguments&&... arguments) {
  const int bytes = num_elements * static_cast<int>(sizeof(Real));
  allow_shared_memory(ctx, kernel);
  launch({ctx, static_cast<unsigned>(num_blocks), kThreads, static_cast<size_t>(bytes)}, kernel,
         std::forward<Arguments>(arguments)...);
}

}  // namespace

void fallback_attention_forward(Context& ctx, const AttentionTensors& tensors,
                                const AttentionOptions& options, int64_t shared_bytes) {
  const auto& [q, k, v, out, lse] = tensors;
  const Problem p = problem_of(q, k, v, options);
  const auto num_elements = []<class X>(X) { return X::kForward; };
  with_tiling(q.dtype, p, shared_bytes, num_elements, [&]<class X>(X) {
    using T = typename X::Element;
    using Real = typename X::Real;
    launch_tiles<Real>(ctx, int64_t{p.B} * p.H * blocks_for(p.Tq, X::kRows), X::kForward,
                       forward_kernel<X>, p, heads_of<const T>(q), heads_of<const T>(k),
                       heads_of<const T>(v), heads_of<T>(out), static_cast<Real*>(lse.data));
  });
}

void fallback_attention_backward(Context& ctx, const AttentionTensors& tensors,
                                 const AttentionGradients& gradients,
                                 const AttentionOptions& options, int64_t shared_bytes) {
  const auto& [q, k, v, out, lse] = tensors;
  const auto& [dout, dq, dk, dv] = gradients;
  Problem p = problem_of(q, k, v, options);
  p.vectors = p.vectors && rows_fit_vec(dout);
  Workspace::Scope scope(ctx.workspace);
  const Tensor delta = ctx.workspace.take(lse.dtype, lse.shape);  // (B, H, Tq)
  const auto num_elements = []<class X>(X) { return X::kKeyGradient; };
  with_tiling(q.dtype, p, shared_bytes, num_elements, [&]<class X>(X) {
    using T = typename X::Element;
    using Real = typename X::Real;
    const auto* const lse_data = static_cast<const Real*>(lse.data);
    auto* const delta_data = static_cast<Real*>(delta.data);
    launch_tiles<Real>(ctx, int64_t{p.B} * p.H * blocks_for(p.Tq, X::kRows), X::kQueryGradient,
                       query_gradient_kernel<X>, p, heads_of<const T>(dout), heads_of<const T>(q),
                       heads_of<const T>(k), heads_of<const T>(v), heads_of<const T>(out), lse_data,
                       delta_data, heads_of<T>(dq));
    launch_tiles<Real>(ctx, int64_t{p.B} * p.G * blocks_for(p.Tk, X::kRows), X::kKeyGradient,
                       key_gradient_kernel<X>, p, heads_of<const T>(dout), heads_of<const T>(q),
                       heads_of<const T>(k), heads_of<const T>(v), lse_data, delta_data,
                       heads_of<T>(dk), heads_of<T>(dv));
  });
}

}  // namespace ingot::cuda
