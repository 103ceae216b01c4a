// The gradient sorts the token positions by token, so that the rows to be added to one row of the
// table stand together, in token order, as a run; runs are summed without atomics.
#include "ops/kernels/embedding.h"

#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "ops/cuda/common/bytes.cuh"
#include "ops/cuda/common/lanes.cuh"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kRowsPerBlock = kThreads / kWarp;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kInFlight = 8;  // rows loaded before the first is used

// out(N, units) = table(V, units)[ids(N)], a warp for each row.
template <class Unit>
__global__ void gather_rows(const int32_t* __restrict__ ids, const Unit* __restrict__ table,
                            Unit* __restrict__ out, int64_t N, int64_t units) {
  constexpr int kUnits = 4;  // a lane's loads in flight
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t row = int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / kWarp;
  if (row >= N) return;
  const Unit* from = table + ids[row] * units;
  Unit* to = out + row * units;
  for (int64_t first = lane; first < units; first += kUnits * kWarp) {
    Unit values[kUnits];
#pragma unroll
    for (int i = 0; i < kUnits; ++i)
      if (first + i * kWarp < units) values[i] = from[first + i * kWarp];
#pragma unroll
    for (int i = 0; i < kUnits; ++i)
      if (first + i * kWarp < units) to[first + i * kWarp] = values[i];
  }
}

// out(N, C) += table(V, C)[ids(N)], a warp for each row.
template <class T, int kWidth>
__global__ void add_rows(const int32_t* __restrict__ ids, const T* __restrict__ table,
                         T* __restrict__ out, int64_t N, int64_t C) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t row = int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / kWarp;
  if (row >= N) return;
  const T* from = table + ids[row] * C;
  T* to = out + row * C;
  for (int64_t column = lane * kWidth; column < C; column += kWarp * kWidth) {
    Lanes<T, kWidth> sum = load_lanes<kWidth>(to + column);
    const Lanes<T, kWidth> added = load_lanes<kWidth>(from + column);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sum.v[i] += added.v[i];
    store_lanes(to + column, sum);
  }
}

__global__ void count_up(int32_t* positions, int64_t N) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < N) positions[i] = static_cast<int32_t>(i);
}

// A warp's sum over rows of dout(N, C), each lane's kColumns columns from `column` on, in order of
// the rows. Lane j brings the number of row j; the first `count` are added. All lanes call this;
// those beyond the last column load nothing.
template <class T, int kColumns>
struct RowSum {
  // A row's part as it was loaded: four registers, where eight bf16 would take eight.
  using Raw = std::conditional_t<kColumns == 1, T, uint4>;
  Compute<T> sums[kColumns] = {};

  __device__ void add(const T* dout, int64_t C, int64_t column, int32_t row_of_lane, int count) {
    for (int first = 0; first < count; first += kInFlight) {
      Raw rows[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        const int64_t row = __shfl_sync(kAllLanes, row_of_lane, (first + i) % kWarp);
        if (first + i < count && column < C)
          rows[i] = *reinterpret_cast<const Raw*>(dout + row * C + column);
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        if (first + i >= count || column >= C) break;
        const auto row = std::bit_cast<Vec<T, kColumns>>(rows[i]);
#pragma unroll
        for (int k = 0; k < kColumns; ++k) sums[k] += static_cast<Compute<T>>(row.v[k]);
      }
    }
  }
};

// Runs of at most a warp's lanes. A warp looks at each sorted position; where a run begins it adds
// the run to dtable(V, C). ids and positions (N) are sorted by id.
template <class T, int kColumns>
__global__ void add_short_runs(const int32_t* __restrict__ ids,
                               const int32_t* __restrict__ positions, const T* __restrict__ dout,
                               Compute<T>* dtable, int64_t N, int64_t C) {
  using A = Compute<T>;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t begin = int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / kWarp;
  if (begin >= N) return;
  const int32_t id = ids[begin];
  if (begin > 0 && ids[begin - 1] == id) return;
  const int64_t next = begin + 1 + lane;
  const unsigned ends = __ballot_sync(kAllLanes, next >= N || ids[next] != id);
  if (ends == 0) return;  // a long run
  const int length = __ffs(static_cast<int>(ends));
  const int32_t row_of_lane = lane < length ? positions[begin + lane] : 0;
  for (int64_t tile = 0; tile < C; tile += kWarp * kColumns) {
    const int64_t column = tile + lane * kColumns;
    RowSum<T, kColumns> rows;
    rows.add(dout, C, column, row_of_lane, length);
    if (column >= C) continue;
    A* to = dtable + id * C + column;
    Vec<A, kColumns> sum = load_vec<A, kColumns>(to);
#pragma unroll
    for (int k = 0; k < kColumns; ++k) sum.v[k] += rows.sums[k];
    store_vec(to, sum);
  }
}

constexpr int kPieces = 16;  // of a long run, one for each warp of a block

// Runs longer than a warp. Each of them contains a multiple of kWarp among the sorted positions;
// the block (x, y) of the first one adds the run to one tile of columns, so that a token that fills
// the batch is summed by kPieces warps per tile.
template <class T, int kColumns>
__global__ void __launch_bounds__(kPieces* kWarp)
    add_long_runs(const int32_t* __restrict__ ids, const int32_t* __restrict__ positions,
                  const T* __restrict__ dout, Compute<T>* dtable, int64_t N, int64_t C) {
  using A = Compute<T>;
  constexpr int kTile = kWarp * kColumns;
  __shared__ A sums[kPieces][kTile];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t here = int64_t{blockIdx.x} * kWarp;
  const int32_t id = ids[here];
  if (here > 0 && ids[here - kWarp] == id) return;  // a block before this one adds it
  const int64_t before = here - 1 - lane;
  const unsigned others = __ballot_sync(kAllLanes, before < 0 || ids[before] != id);
  const int64_t begin = here - (__ffs(static_cast<int>(others)) - 1);
  if (begin + kWarp >= N || ids[begin + kWarp] != id) return;  // a short run
  int64_t end = begin + kWarp + 1, beyond = N;                 // the run ends in [end, beyond]
  while (end < beyond) {
    const int64_t middle = (end + beyond) / 2;
    if (ids[middle] == id) {
      end = middle + 1;
    } else {
      beyond = middle;
    }
  }

  const int64_t piece = (end - begin + kPieces - 1) / kPieces;
  const int64_t from = begin + warp * piece, to = min(from + piece, end);
  const int64_t tile = int64_t{blockIdx.y} * kTile;
  RowSum<T, kColumns> rows;
  for (int64_t first = from; first < to; first += kWarp) {
    const int32_t row_of_lane = first + lane < to ? positions[first + lane] : 0;
    rows.add(dout, C, tile + lane * kColumns, row_of_lane,
             static_cast<int>(min(int64_t{kWarp}, to - first)));
  }
#pragma unroll
  for (int k = 0; k < kColumns; ++k) sums[warp][lane * kColumns + k] = rows.sums[k];
  __syncthreads();
  const int64_t width = min(int64_t{kTile}, C - tile);
  for (int64_t k = threadIdx.x; k < width; k += kPieces * kWarp) {
    A sum = 0;
    for (int i = 0; i < kPieces; ++i) sum += sums[i][k];
    dtable[id * C + tile + k] += sum;
  }
}

// Bits of the ids that the sort looks at.
int id_bits(int64_t vocab) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(vocab - 1))));
}

// Stable, so equal ids keep the order of their positions. Returns the bytes of scratch it needs;
// without scratch it does nothing else.
size_t sort(cudaStream_t stream, void* scratch, size_t scratch_bytes, const int32_t* ids,
            int32_t* sorted_ids, const int32_t* positions, int32_t* sorted_positions, int64_t N,
            int64_t vocab) {
  cuda_check(cub::DeviceRadixSort::SortPairs(
      scratch, scratch_bytes, reinterpret_cast<const uint32_t*>(ids),
      reinterpret_cast<uint32_t*>(sorted_ids), positions, sorted_positions, static_cast<int>(N), 0,
      id_bits(vocab), stream));
  return scratch_bytes;
}

}  // namespace

void embedding_forward(Context& ctx, const Tensor& tokens, const Tensor& table, const Tensor& out) {
  const int64_t N = out.shape[0];
  const int64_t row_bytes = out.shape[1] * size_of(out.dtype);
  with_unit(address_of(table.data) | address_of(out.data) | static_cast<uint64_t>(row_bytes),
            [&](auto unit) {
              using Unit = decltype(unit);
              launch({ctx, blocks_for(N, kRowsPerBlock), kThreads}, gather_rows<Unit>,
                     tokens.as<int32_t>(), static_cast<const Unit*>(table.data),
                     static_cast<Unit*>(out.data), N,
                     row_bytes / static_cast<int64_t>(sizeof(Unit)));
            });
}

void embedding_add(Context& ctx, const Tensor& tokens, const Tensor& table, const Tensor& out) {
  const int64_t N = out.shape[0], C = out.shape[1];
  if (N == 0) return;
  with_device_type(out.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* const from = static_cast<const T*>(table.data);
    T* const to = static_cast<T*>(out.data);
    with_width<T>(fits_vec(from, C) && fits_vec(to, C), [&](auto width) {
      launch({ctx, blocks_for(N, kRowsPerBlock), kThreads}, add_rows<T, width>,
             tokens.as<int32_t>(), from, to, N, C);
    });
  });
}

void embedding_backward(Context& ctx, const Tensor& tokens, const Tensor& dout,
                        const Tensor& dtable) {
  const int64_t N = dout.shape[0], C = dout.shape[1], V = dtable.shape[0];
  if (N == 0 || C == 0) return;
  Workspace::Scope scope(ctx.workspace);
  auto* positions = ctx.workspace.take(DType::I32, {N}).as<int32_t>();
  auto* ids = ctx.workspace.take(DType::I32, {N}).as<int32_t>();
  auto* rows = ctx.workspace.take(DType::I32, {N}).as<int32_t>();  // sorted positions
  const Tensor scratch = ctx.workspace.take(DType::U8, {embedding_sort_bytes(N)});
  const size_t wanted = sort(nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr, N, V);
  check(static_cast<int64_t>(wanted) <= scratch.bytes(), ErrorCode::Internal,
        "sorting {} tokens: expected to need at most {} bytes, cub wants {}", N, scratch.bytes(),
        wanted);
  launch({ctx, blocks_for(N, kThreads), kThreads}, count_up, positions, N);
  sort(stream_of(ctx), scratch.data, static_cast<size_t>(scratch.bytes()), tokens.as<int32_t>(),
       ids, positions, rows, N, V);

  with_device_type(dout.dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto* from = static_cast<const T*>(dout.data);
    auto* to = static_cast<Compute<T>*>(dtable.data);
    auto add_runs = [&]<int kColumns>(std::integral_constant<int, kColumns>) {
      launch({ctx, blocks_for(N, kRowsPerBlock), kThreads}, add_short_runs<T, kColumns>, ids, rows,
             from, to, N, C);
      launch({ctx, dim3(blocks_for(N, kWarp), blocks_for(C, kWarp * kColumns)), kPieces * kWarp},
             add_long_runs<T, kColumns>, ids, rows, from, to, N, C);
    };
    if (fits_vec(from, C) && fits_vec(to, C)) {
      add_runs(std::integral_constant<int, Vec<T>::kSize>{});
    } else {
      add_runs(std::integral_constant<int, 1>{});
    }
  });
}

}  // namespace ingot::cuda
