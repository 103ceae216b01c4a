// The frame of the kernels in fused_linear.cu: c = a · b, with c passed to an epilogue, rounded to
// bf16, while it is still in registers. bf16, accumulated in F32.
//
// A block computes tiles of 128 rows and 256 columns. The two blocks of a cluster have adjacent row
// tiles and share the columns of b: each fetches one half and sends it to both. One warp keeps a
// ring of stages filled. Two warpgroups multiply, 64 rows each. Between the steps they run slices
// of the previous tile's epilogue, while the tensor cores work on the next tile. The inputs and
// outputs of an epilogue lie in shared memory. A warp per group, its mover, fetches and stores
// them, so that the multiplying groups wait only for what they need. The grid is as large as the
// GPU holds at once and iterates over all tiles.
#pragma once

#include "ops/cuda/hopper/instructions.cuh"

namespace ingot::cuda::hopper {

inline constexpr int kTileRows = 128, kTileColumns = 256, kTileDepth = 64;
inline constexpr int kClusterBlocks = 2;
inline constexpr int kGroups = 2, kGroupRows = kTileRows / kGroups;
inline constexpr int kGroupThreads = 128;  // a warpgroup
inline constexpr int kBlockThreads = (kGroups + 1) * kGroupThreads;
// What a TMA box holds: 64 rows of 64 bf16.
inline constexpr int kPieceWidth = 64, kPieceBytes = 64 * 128;
inline constexpr int kColumnPieces = kTileColumns / kPieceWidth;
inline constexpr int kStageBytes = kPieceBytes * (kGroups + kColumnPieces);

struct Extents {
  int row_tiles;     // of kClusterBlocks · kTileRows rows
  int column_tiles;  // of kTileColumns columns of b
  int depth_steps;   // of kTileDepth
};

// The position of a block's tile.
struct Tile {
  int row;     // its first
  int column;  // counts tiles
};

// kPieceWidth columns of b, in its matrix `part`.
struct Columns {
  int first, part;
};

// Iterates over the tiles of a block, or of one group's rows of it: along columns of kBand row
// tiles, so that concurrent blocks read few rows and few columns, which stay in the L2.
template <int kBand>
struct Walk {
  __device__ Walk(const Extents& all, uint32_t rank, int group = 0)
      : extents(all),
        row(static_cast<int>(rank) * kTileRows + group * kGroupRows),
        index(static_cast<int>(blockIdx.x) / kClusterBlocks) {}

  __device__ bool more() const { return index < extents.row_tiles * extents.column_tiles; }
  __device__ void advance() { index += static_cast<int>(gridDim.x) / kClusterBlocks; }
  // The current tile; valid if there are more.
  __device__ Tile tile() const {
    const int per_band = kBand * extents.column_tiles;
    const int band = index / per_band, within = index - band * per_band;
    const int height = min(kBand, extents.row_tiles - band * kBand);
    const int row_tile = band * kBand + within % height;
    return {row_tile * kClusterBlocks * kTileRows + row, within / height};
  }

  const Extents& extents;
  int row;  // of the first row tile
  int index;
};

// The ring, the epilogue's scratch for each group, then the barriers.
template <class Epilogue>
constexpr int shared_bytes() {
  constexpr int kBarriers = 2 * Epilogue::kStages + kGroups * Epilogue::kBarriers;
  return 1024 + Epilogue::kStages * kStageBytes + kGroups * Epilogue::kScratchBytes + 8 * kBarriers;
}

// a: (1, rows, depth). b: (·, columns, depth) or, when Epilogue::kAcross, (·, depth, columns).
// Boxes of a piece. A group of warps has an epilogue for its 64 rows of each tile. begin(tile) is
// called before the first tile. For each tile, slice(0 … kSlices-1, sums, tile, next, more) is
// called while the tile `next` is multiplied, if there are more: one after each step or, with
// kSpread, evenly over all steps. move(arguments, scratch, barriers, walk) is called by one thread
// per group; they share kBarriers barriers, the i-th of which expects arrivals_at(i).
template <class Epilogue>
__global__ void __launch_bounds__(kBlockThreads, 1) __cluster_dims__(kClusterBlocks, 1, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                   const __grid_constant__ typename Epilogue::Arguments arguments,
                   const Extents extents) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr int kStages = Epilogue::kStages;
  extern __shared__ uint8_t shared[];
  const uint32_t ring = (shared_address(shared) + 1023) & ~1023u;
  const uint32_t scratch = ring + kStages * kStageBytes;  // of the epilogues
  const uint32_t full = scratch + kGroups * Epilogue::kScratchBytes;
  const uint32_t empty = full + 8 * kStages, epilogue_barriers = empty + 8 * kStages;
  const uint32_t rank = cluster_rank();
  const int group = static_cast<int>(threadIdx.x) / kGroupThreads;

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      barrier_init(full + 8 * s, 1);
      barrier_init(empty + 8 * s, kClusterBlocks * kGroups);
    }
    for (int i = 0; i < kGroups * Epilogue::kBarriers; ++i)
      barrier_init(epilogue_barriers + 8 * i, Epilogue::arrivals_at(i % Epilogue::kBarriers));
    barrier_init_fence();
  }
  cluster_sync();

  using TileWalk = Walk<Epilogue::kBand>;
  const auto scratch_of = [&](int g) { return scratch + g * Epilogue::kScratchBytes; };
  const auto barriers_of = [&](int g) { return epilogue_barriers + 8 * g * Epilogue::kBarriers; };
  Place<kStages> place;

  if (group == kGroups) {
    give_registers<40>();
    const int warp = static_cast<int>(threadIdx.x) % kGroupThreads / 32;
    const bool leads = threadIdx.x % 32 == 0;
    if (leads && warp == 0) {
      for (TileWalk walk(extents, rank); walk.more(); walk.advance()) {
        const Tile tile = walk.tile();
        for (int k = 0; k < extents.depth_steps; ++k, place.advance()) {
          const uint32_t to = ring + place.stage * kStageBytes, ready = full + 8 * place.stage;
          const int depth = k * kTileDepth;
          barrier_wait(empty + 8 * place.stage, place.parity ^ 1);
          barrier_expect(ready, kStageBytes);
#pragma unroll
          for (int i = 0; i < kGroups; ++i)
            load_box(&a, Box{depth, tile.row + i * kGroupRows, 0}, to + i * kPieceBytes, ready);
#pragma unroll
          for (int i = 0; i < kColumnPieces / kClusterBlocks; ++i) {
            const int piece = static_cast<int>(rank) * (kColumnPieces / kClusterBlocks) + i;
            const Columns columns = Epilogue::columns_of(tile.column, piece);
            const Box from = Epilogue::kAcross ? Box{columns.first, depth, columns.part}
                                               : Box{depth, columns.first, columns.part};
            load_box_to_all(&b, from, to + (kGroups + piece) * kPieceBytes, ready,
                            (1 << kClusterBlocks) - 1, Keep::Long);
          }
        }
      }
    }
    if (leads && warp > 0 && warp <= kGroups)
      Epilogue::move(arguments, scratch_of(warp - 1), barriers_of(warp - 1),
                     TileWalk(extents, rank, warp - 1));
    __syncwarp();
  } else {
    take_registers<232>();
    const int thread = static_cast<int>(threadIdx.x) % kGroupThreads;
    Epilogue epilogue(arguments, scratch_of(group), barriers_of(group), thread);
    float sums[128];
    uint32_t held[64];  // the last tile's sums, two per register
    Tile held_tile;
    bool holding = false;
    uint32_t last_stage = 0;

    auto multiply = [&](bool first) {
      const uint32_t from = ring + place.stage * kStageBytes;
      const uint32_t rows = from + group * kPieceBytes, columns = from + kGroups * kPieceBytes;
      barrier_wait(full + 8 * place.stage, place.parity);
      wgmma_begin();
#pragma unroll
      for (int i = 0; i < kTileDepth / 16; ++i) {
        // A depth of 16 is 32 bytes of a row, or 16 rows.
        const uint32_t depth_bytes = Epilogue::kAcross ? i * 16 * 128 : i * 32;
        multiply_64x256<Epilogue::kAcross>(sums, matrix_descriptor(rows + i * 32, kPieceBytes),
                                           matrix_descriptor(columns + depth_bytes, kPieceBytes),
                                           first && i == 0);
      }
      wgmma_commit();
    };
    auto release = [&](uint32_t stage) {
      if (thread < kClusterBlocks) barrier_arrive_at(empty + 8 * stage, thread);
    };
    auto first_step = [&] {
      multiply(true);
      last_stage = place.stage;
      place.advance();
    };
    auto next_step = [&] {
      multiply(false);
      wgmma_wait<1>();  // the step before is done
      release(last_stage);
      last_stage = place.stage;
      place.advance();
    };

    // One iteration more than there are tiles, for the last epilogue.
    for (TileWalk walk(extents, rank, group);; walk.advance()) {
      const bool more = walk.more();
      if (!more && !holding) break;
      const int steps = more ? extents.depth_steps : 0;
      const Tile tile = more ? walk.tile() : Tile{};
      if (!holding) epilogue.begin(tile);
      if (more) first_step();
      int k = 1;
#pragma unroll
      for (int slice = 0; slice < Epilogue::kSlices; ++slice) {
        if constexpr (Epilogue::kSpread) {
          for (; k < steps && k * Epilogue::kSlices <= slice * steps; ++k) next_step();
        } else {
          if (slice > 0 && slice < steps) next_step();
        }
        if (holding) epilogue.slice(slice, held, held_tile, tile, more);
      }
      if (!more) break;
      if constexpr (!Epilogue::kSpread) k = Epilogue::kSlices;
      for (; k < steps; ++k) next_step();
      wgmma_wait<0>();
      wgmma_read(sums);
      release(last_stage);
#pragma unroll
      for (int i = 0; i < 64; ++i) held[i] = pack(sums[2 * i], sums[2 * i + 1]);
      held_tile = tile;
      holding = true;
    }
  }
  cluster_sync();  // the other block may still be writing to this block's barriers
#endif
}

}  // namespace ingot::cuda::hopper
