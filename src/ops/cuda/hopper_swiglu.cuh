// Epilogues of hopper_product.cuh: SwiGLU on the way forward and back.
#pragma once

#include "ops/cuda/activation.cuh"
#include "ops/cuda/hopper_sliver.cuh"

namespace ingot::cuda::hopper {

// up(N, 2F) = x(N, C) · w(2F, C)ᵀ, gate then up in each row, and act(N, F) = silu(gate) · up. A
// tile is 128 columns of gate beside the same of up.
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
  static constexpr int kBarriers = 0;
  static constexpr int kSlices = 3 * kColumnPieces;  // gate, up and act of each sliver of act
  static constexpr bool kSpread = false;

  // Of w as (2, F, C).
  __device__ static Columns columns_of(int tile, int piece) {
    return {tile * kActColumns + piece % 2 * kPieceWidth, piece / 2};
  }

  __device__ SwigluForward(const Arguments& arguments, uint32_t scratch, uint32_t, int group,
                           int thread)
      : arguments_(arguments), results_(scratch, group, thread) {}

  __device__ void begin(const Tile&) {}

  __device__ __forceinline__ void slice(int slice, const uint32_t (&sums)[64], const Tile& tile,
                                        const Tile&, bool) {
    const int block = slice / 6, half = slice / 3 % 2, part = slice % 3;
    const auto at = [&] {
      return Box5{tile.column * kActColumns + block * kPieceWidth, 0, half, tile.row / 16,
                  part % 2};
    };
    results_.send(slice, part == 2 ? &arguments_.act : &arguments_.up, at, [&](int i) {
      const uint32_t gate = sums[2 * (8 * block + i) + half];
      const uint32_t up = sums[2 * (8 * block + i + 16) + half];
      const float2 g = unpack(gate), u = unpack(up);
      return part == 0   ? gate
             : part == 1 ? up
                         : pack(swiglu<__nv_bfloat16>(g.x, u.x), swiglu<__nv_bfloat16>(g.y, u.y));
    });
  }

  __device__ void finish() { results_.finish(); }

 private:
  const Arguments& arguments_;
  SliverStream<4> results_;
};

// d_act(N, F) = dy(N, C) · w(C, F), from which and up(N, 2F) the gradient of up follows; act(N, F)
// is built again if kBuild. The values of `up` are fetched ahead, and their gradients take their
// place.
template <bool kBuild>
class SwigluBackward {
  static constexpr int kSlivers = 2 * kColumnPieces;
  static constexpr int kSets = 4;  // of gate and up: fetched two slivers ahead, then written back
  static constexpr int kActs = kBuild ? 2 : 0;  // written in turn

 public:
  struct Arguments {
    CUtensorMap up;    // (2, N/16, 2, 8, F): slivers of gate and up
    CUtensorMap d_up;  // the same; may be up
    CUtensorMap act;   // (1, N/16, 2, 8, F)
  };
  static constexpr bool kAcross = true;
  static constexpr int kBand = 4;
  static constexpr int kStages = 3;
  static constexpr int kScratchBytes = (2 * kSets + kActs) * kSliverBytes;
  static constexpr int kBarriers = kSets;
  static constexpr int kSlices = 2 * kSlivers;
  static constexpr bool kSpread = true;  // it moves five times what it computes

  __device__ static Columns columns_of(int tile, int piece) {
    return {tile * kTileColumns + piece * kPieceWidth, 0};
  }

  __device__ SwigluBackward(const Arguments& arguments, uint32_t scratch, uint32_t barriers,
                            int group, int thread)
      : arguments_(arguments),
        scratch_(scratch),
        barriers_(barriers),
        group_(group),
        thread_(thread) {}

  __device__ void begin(const Tile& tile) {
    if (thread_ == 0) {
      fetch(tile, 0);
      fetch(tile, 1);
    }
  }

  __device__ __forceinline__ void slice(int slice, const uint32_t (&sums)[64], const Tile& tile,
                                        const Tile& next, bool more) {
    const int sliver = slice / 2, chunk = slice % 2 * 4;
    const uint32_t gate = gate_of(sliver), up = gate + kSliverBytes;
    const uint32_t act = scratch_ + (2 * kSets + sliver % 2) * kSliverBytes;
    if (slice % 2 == 0) {
      if (thread_ == 0) {
        wait_stores_read<1>();
        if (sliver + 2 < kSlivers)
          fetch(tile, sliver + 2);
        else if (more)
          fetch(next, sliver + 2 - kSlivers);
      }
      meet(1 + group_, kGroupThreads);  // act may be written
      barrier_wait(barriers_ + 8 * (sliver % kSets), sliver / kSets);
    }
    uint32_t g[4], u[4], y[4];
    load_matrices(row_address(gate, thread_, chunk), g);
    load_matrices(row_address(up, thread_, chunk), u);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 d = unpack(sums[2 * (8 * (sliver / 2) + chunk + i) + sliver % 2]);
      const float2 gates = unpack(g[i]), ups = unpack(u[i]);
      const auto low = swiglu_gradient<__nv_bfloat16>(d.x, gates.x, ups.x);
      const auto high = swiglu_gradient<__nv_bfloat16>(d.y, gates.y, ups.y);
      g[i] = pack(low.dgate, high.dgate);
      u[i] = pack(low.dup, high.dup);
      y[i] = pack(low.out, high.out);
    }
    store_matrices(row_address(gate, thread_, chunk), g);
    store_matrices(row_address(up, thread_, chunk), u);
    if constexpr (kBuild) store_matrices(row_address(act, thread_, chunk), y);
    if (slice % 2 == 1) {
      fence_for_stores();
      meet(1 + group_, kGroupThreads);
      if (thread_ == 0) {
        store_box(&arguments_.d_up, box_of(tile, sliver, 0), gate, Keep::Short);
        store_box(&arguments_.d_up, box_of(tile, sliver, 1), up, Keep::Short);
        if constexpr (kBuild) store_box(&arguments_.act, box_of(tile, sliver, 0), act, Keep::Short);
        commit_stores();
      }
    }
  }

  __device__ void finish() {
    if (thread_ == 0) wait_stores_read<0>();
  }

 private:
  static_assert(kSlivers == 2 * kSets, "expected a set to be filled twice a tile: see slice()");

  __device__ uint32_t gate_of(int sliver) const {
    return scratch_ + sliver % kSets * 2 * kSliverBytes;
  }

  __device__ static Box5 box_of(const Tile& tile, int sliver, int part) {
    return {tile.column * kTileColumns + sliver / 2 * kPieceWidth, 0, sliver % 2, tile.row / 16,
            part};
  }

  __device__ void fetch(const Tile& tile, int sliver) {
    const uint32_t to = gate_of(sliver), ready = barriers_ + 8 * (sliver % kSets);
    barrier_expect(ready, 2 * kSliverBytes);
    load_box(&arguments_.up, box_of(tile, sliver, 0), to, ready, Keep::Short);
    load_box(&arguments_.up, box_of(tile, sliver, 1), to + kSliverBytes, ready, Keep::Short);
  }

  const Arguments& arguments_;
  uint32_t scratch_, barriers_;
  int group_, thread_;
};

}  // namespace ingot::cuda::hopper
