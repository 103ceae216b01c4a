// Epilogues of product.cuh: the forward and backward pass of SwiGLU.
#pragma once

#include "ops/cuda/activation.cuh"
#include "ops/cuda/hopper/sliver.cuh"

namespace ingot::cuda::hopper {

// up(N, 2F) = x(N, C) · w(2F, C)ᵀ, gate then up in each row, and act(N, F) = silu(gate) · up. A
// tile has 128 columns of gate and the same 128 of up.
class SwigluForward {
 public:
  struct Arguments {
    CUtensorMap up;   // (2, N/16, 2, 8, F): slivers of gate and up
    CUtensorMap act;  // (1, N/16, 2, 8, F)
  };
  static constexpr int kActColumns = kTileColumns / 2;  // of a tile
  static constexpr bool kAcross = false;
  static constexpr int kBand = 8;
  static constexpr int kStages = 4;
  static constexpr int kScratchBytes = SliverStream<4>::kBytes;
  static constexpr int kBarriers = SliverStream<4>::kBarriers;
  static constexpr int kSlices = 3 * kColumnPieces;  // gate, up and act of each sliver of act
  static constexpr bool kSpread = false;

  __device__ static int arrivals_at(int barrier) { return SliverStream<4>::arrivals_at(barrier); }

  // Of w as (2, F, C).
  __device__ static Columns columns_of(int tile, int piece) {
    return {tile * kActColumns + piece % 2 * kPieceWidth, piece / 2};
  }

  __device__ SwigluForward(const Arguments&, uint32_t scratch, uint32_t barriers, int thread)
      : results_(scratch, barriers, thread) {}

  __device__ void begin(const Tile&) {}

  __device__ __forceinline__ void slice(int slice, const uint32_t (&sums)[64], const Tile&,
                                        const Tile&, bool) {
    const int block = slice / 6, half = slice / 3 % 2, part = slice % 3;
    results_.put([&](int i) {
      const uint32_t gate = sums[2 * (8 * block + i) + half];
      const uint32_t up = sums[2 * (8 * block + i + 16) + half];
      const float2 g = unpack(gate), u = unpack(up);
      return part == 0   ? gate
             : part == 1 ? up
                         : pack(swiglu<__nv_bfloat16>(g.x, u.x), swiglu<__nv_bfloat16>(g.y, u.y));
    });
  }

  template <class Walk>
  __device__ static void move(const Arguments& arguments, uint32_t scratch, uint32_t barriers,
                              const Walk& walk) {
    SliverStream<4>::send_all(
        scratch, barriers, walk, kSlices, [&](const Tile& tile, int slice, uint32_t from) {
          const int block = slice / 6, half = slice / 3 % 2, part = slice % 3;
          const int column = tile.column * kActColumns + block * kPieceWidth;
          store_box(part == 2 ? &arguments.act : &arguments.up,
                    Box5{column, 0, half, tile.row / 16, part % 2}, from, Keep::Short);
        });
  }

 private:
  SliverStream<4> results_;
};

// d_act(N, F) = dy(N, C) · w(C, F). From it and up(N, 2F) follows the gradient of up; act(N, F) is
// rebuilt if kBuild. Values of `up` are fetched ahead and replaced by their gradients.
template <bool kBuild>
class SwigluBackward {
  static constexpr int kSlivers = 2 * kColumnPieces;
  static constexpr int kSets = kBuild ? 3 : 4;  // of slivers of gate, up and, if built, act
  static constexpr int kSetBytes = (kBuild ? 3 : 2) * kSliverBytes;

 public:
  struct Arguments {
    CUtensorMap up;    // (2, N/16, 2, 8, F): slivers of gate and up
    CUtensorMap d_up;  // the same; may be up
    CUtensorMap act;   // (1, N/16, 2, 8, F)
  };
  static constexpr bool kAcross = true;
  static constexpr int kBand = 4;
  static constexpr int kStages = 3;
  static constexpr int kScratchBytes = kSets * kSetBytes;
  static constexpr int kBarriers = 2 * kSets;  // a set is filled, a set is computed
  static constexpr int kSlices = 2 * kSlivers;
  static constexpr bool kSpread = true;  // it moves five times as much as it computes

  __device__ static int arrivals_at(int barrier) { return barrier < kSets ? 1 : kGroupWarps; }

  __device__ static Columns columns_of(int tile, int piece) {
    return {tile * kTileColumns + piece * kPieceWidth, 0};
  }

  __device__ SwigluBackward(const Arguments&, uint32_t scratch, uint32_t barriers, int thread)
      : scratch_(scratch), barriers_(barriers), thread_(thread) {}

  __device__ void begin(const Tile&) {}

  __device__ __forceinline__ void slice(int slice, const uint32_t (&sums)[64], const Tile&,
                                        const Tile&, bool) {
    const int sliver = slice / 2, chunk = slice % 2 * 4;
    const int block = block_of(sliver), half = half_of(sliver);
    const uint32_t gate = scratch_ + set_.stage * kSetBytes, up = gate + kSliverBytes;
    if (slice % 2 == 0) barrier_wait(barriers_ + 8 * set_.stage, set_.parity);
    uint32_t g[4], u[4], y[4];
    load_matrices(row_address(gate, thread_, chunk), g);
    load_matrices(row_address(up, thread_, chunk), u);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 d = unpack(sums[2 * (8 * block + chunk + i) + half]);
      const float2 gates = unpack(g[i]), ups = unpack(u[i]);
      const auto low = swiglu_gradient<__nv_bfloat16>(d.x, gates.x, ups.x);
      const auto high = swiglu_gradient<__nv_bfloat16>(d.y, gates.y, ups.y);
      g[i] = pack(low.dgate, high.dgate);
      u[i] = pack(low.dup, high.dup);
      y[i] = pack(low.out, high.out);
    }
    store_matrices(row_address(gate, thread_, chunk), g);
    store_matrices(row_address(up, thread_, chunk), u);
    if constexpr (kBuild) store_matrices(row_address(up + kSliverBytes, thread_, chunk), y);
    if (slice % 2 == 1) {
      hand_over(barriers_ + 8 * (kSets + set_.stage));
      set_.advance();
    }
  }

  // Fetches sets ahead and stores them after they are computed.
  template <class Walk>
  __device__ static void move(const Arguments& arguments, uint32_t scratch, uint32_t barriers,
                              const Walk& walk) {
    Cursor<Walk> fetched(walk), sent(walk);
    const auto fetch = [&](int set) {
      if (!fetched.walk.more()) return;
      const uint32_t to = scratch + set * kSetBytes, ready = barriers + 8 * set;
      barrier_expect(ready, 2 * kSliverBytes);
      load_box(&arguments.up, fetched.box(0), to, ready, Keep::Short);
      load_box(&arguments.up, fetched.box(1), to + kSliverBytes, ready, Keep::Short);
      fetched.advance();
    };
    for (int set = 0; set < kSets; ++set) fetch(set);
    for (Place<kSets> set; sent.walk.more(); sent.advance(), set.advance()) {
      const uint32_t from = scratch + set.stage * kSetBytes;
      barrier_wait(barriers + 8 * (kSets + set.stage), set.parity);
      store_box(&arguments.d_up, sent.box(0), from, Keep::Short);
      store_box(&arguments.d_up, sent.box(1), from + kSliverBytes, Keep::Short);
      if constexpr (kBuild)
        store_box(&arguments.act, sent.box(0), from + 2 * kSliverBytes, Keep::Short);
      commit_stores();
      wait_stores_read<0>();
      fetch(set.stage);
    }
  }

 private:
  // Along the rows first: their neighbours in memory follow soon after.
  __device__ static constexpr int block_of(int sliver) { return sliver % kColumnPieces; }
  __device__ static constexpr int half_of(int sliver) { return sliver / kColumnPieces; }

  // Iterates over a group's slivers, tile after tile.
  template <class Walk>
  struct Cursor {
    __device__ explicit Cursor(const Walk& begin) : walk(begin), tile(begin.tile()) {}
    __device__ void advance() {
      if (++sliver < kSlivers) return;
      sliver = 0;
      walk.advance();
      if (walk.more()) tile = walk.tile();
    }
    __device__ Box5 box(int part) const {
      return {tile.column * kTileColumns + block_of(sliver) * kPieceWidth, 0, half_of(sliver),
              tile.row / 16, part};
    }

    Walk walk;
    Tile tile;
    int sliver = 0;
  };

  uint32_t scratch_, barriers_;
  int thread_;
  Place<kSets> set_;
};

}  // namespace ingot::cuda::hopper
