// Hopper's own instructions (sm_90a), one function each: box copies by the TMA unit, shared-memory
// barriers that count its bytes, warpgroup matrix multiplications, and communication between the
// blocks of a cluster. Shared addresses have 32 bits, as from shared_address().
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

namespace ingot::cuda::hopper {

__device__ __forceinline__ uint32_t shared_address(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

// Two bf16 in a register.
__device__ __forceinline__ uint32_t pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&pair);
}
__device__ __forceinline__ float2 unpack(uint32_t pair) {
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u)};
}

// ---- Barriers in shared memory

__device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to the other blocks of the cluster and to the TMA unit.
__device__ __forceinline__ void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives, and adds to the bytes that the barrier waits for.
__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// One arrival of a whole warp.
__device__ __forceinline__ void barrier_arrive_as_warp(int lane, uint32_t barrier) {
  __syncwarp();
  if (lane == 0) barrier_arrive(barrier);
}

// Arrives at the barrier at the same address in block `rank` of the cluster.
__device__ __forceinline__ void barrier_arrive_at(uint32_t barrier, uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

// Waits for the end of the phase of this parity; all earlier writes of the cluster are then
// visible.
__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// The n-th use of a ring of stages: the stage, and the parity of its barrier's phase.
template <int kStages>
struct Place {
  int stage = 0;
  uint32_t parity = 0;
  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// ---- Clusters and registers

__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

template <int kRegisters>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// ---- The TMA unit

// Coordinates of a box's first element, innermost dimension first. Elements outside the tensor are
// read as zeros and not written.
struct Box {
  int x, y, z;
};
struct Box4 {
  int w, x, y, z;
};
struct Box5 {
  int v, w, x, y, z;
};

// L2 cache policy of a box: kept shorter or longer than other data. The values are those of
// createpolicy.fractional for evict_first and evict_last.
enum class Keep : uint64_t { Short = 0x12f0000000000000, Long = 0x14f0000000000000 };

__device__ __forceinline__ void load_box(const CUtensorMap* map, Box at, uint32_t to,
                                         uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(at.x), "r"(at.y), "r"(at.z)
      : "memory");
}

__device__ __forceinline__ void load_box(const CUtensorMap* map, Box4 at, uint32_t to,
                                         uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(at.w), "r"(at.x), "r"(at.y), "r"(at.z)
      : "memory");
}

__device__ __forceinline__ void load_box(const CUtensorMap* map, Box5 at, uint32_t to,
                                         uint32_t barrier, Keep keep) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(at.v), "r"(at.w), "r"(at.x), "r"(at.y), "r"(at.z), "l"(keep)
      : "memory");
}

// Copies to the same address in every block of `blocks`, and signals the barrier at the same
// address there.
__device__ __forceinline__ void load_box_to_all(const CUtensorMap* map, Box at, uint32_t to,
                                                uint32_t barrier, uint16_t blocks, Keep keep) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], %3, %7;" ::"r"(to),
      "l"(map), "r"(barrier), "h"(blocks), "r"(at.x), "r"(at.y), "r"(at.z), "l"(keep)
      : "memory");
}

__device__ __forceinline__ void store_box(const CUtensorMap* map, Box5 at, uint32_t from,
                                          Keep keep) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint "
      "[%0, {%2, %3, %4, %5, %6}], [%1], %7;" ::"l"(map),
      "r"(from), "r"(at.v), "r"(at.w), "r"(at.x), "r"(at.y), "r"(at.z), "l"(keep)
      : "memory");
}

// Copies consecutive bytes; all three arguments are multiples of 16.
__device__ __forceinline__ void load_bytes(const void* from, uint32_t bytes, uint32_t to,
                                           uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

// Adds floats to those in global memory, each atomically; ordered like store_box.
__device__ __forceinline__ void add_floats(uint32_t from, uint32_t bytes, float* to) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
      "r"(from), "r"(bytes)
      : "memory");
}

__device__ __forceinline__ void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until the shared memory of this thread's stores may be reused, except for the last kLeft
// groups.
template <int kLeft>
__device__ __forceinline__ void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}

// Makes this thread's writes to shared memory visible to the TMA unit.
__device__ __forceinline__ void fence_for_stores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- 8×8 matrices of 16 bits between a warp's registers and shared memory

__device__ __forceinline__ void load_matrices(uint32_t from, uint32_t (&v)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void store_matrices(uint32_t to, const uint32_t (&v)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
               : "memory");
}

// ---- Rows of results

// Four adjacent threads hold four registers each: thread t gets the t-th register of all four, in
// thread order.
__device__ __forceinline__ void exchange_in_four(uint32_t (&v)[4]) {
  const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const uint32_t got = __shfl_xor_sync(~0u, odd ? v[i] : v[i + 1], 1);
    (odd ? v[i] : v[i + 1]) = got;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t got = __shfl_xor_sync(~0u, upper ? v[i] : v[i + 2], 2);
    (upper ? v[i] : v[i + 2]) = got;
  }
}

// Stores a warp's 16 rows of 64 sums, in the layout of a GEMM's output, times `factor`: row r to to
// + r · pitch.
__device__ __forceinline__ void store_sums(const float (&sums)[32], float factor,
                                           __nv_bfloat16* to, int64_t pitch) {
  const int row = threadIdx.x % 32 / 4, part = threadIdx.x % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int columns = 0; columns < 64; columns += 32) {
      uint32_t v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = columns / 2 + 4 * i + 2 * half;
        v[i] = pack(factor * sums[at], factor * sums[at + 1]);
      }
      exchange_in_four(v);
      *reinterpret_cast<uint4*>(to + (row + 8 * half) * pitch + columns + 8 * part) =
          make_uint4(v[0], v[1], v[2], v[3]);
    }
}

// ---- Matrix multiplications of a warpgroup

// Describes a matrix of 128-byte rows in shared memory, swizzled by the TMA unit. If rows run along
// the depth of the multiplication, groups of 8 rows are consecutive and `block_bytes` is unused. If
// they run across it, a row is 64 columns of one depth, and the next 64 columns are `block_bytes`
// further.
__device__ __forceinline__ uint64_t matrix_descriptor(uint32_t address, uint32_t block_bytes) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62, kGroupBytes = 8 * 128;
  return kSwizzle128 | (kGroupBytes >> 4) << 32 | uint64_t{block_bytes >> 4} << 16 |
         ((address & 0x3ffff) >> 4);
}

// Registers must not be touched between begin and end of multiplications in flight.
__device__ __forceinline__ void wgmma_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until at most kLeft committed groups are in flight.
template <int kLeft>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

#define INGOT_8(d, i)                                                                         \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define INGOT_64(d, i)                                                                          \
  INGOT_8(d, i), INGOT_8(d, i + 8), INGOT_8(d, i + 16), INGOT_8(d, i + 24), INGOT_8(d, i + 32), \
      INGOT_8(d, i + 40), INGOT_8(d, i + 48), INGOT_8(d, i + 56)

// sums(64, 256) = a(64, 16) · b(16, 256), added to sums unless `first`. Thread t of a warpgroup
// holds, of rows t/4 and t/4 + 8 of its warp's 16, the columns 8j + 2(t%4) and the next one:
// sums[4j … 4j+3]. kAcross: the rows of b in shared memory run along its columns, else along its
// depth.
template <bool kAcross>
__device__ __forceinline__ void multiply_64x256(float (&sums)[128], uint64_t a, uint64_t b,
                                                bool first) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.eq.u32 add, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127}, %128, %129, add, 1, 1, 0, %131;\n"
      "}"
      : INGOT_64(sums, 0), INGOT_64(sums, 64)
      : "l"(a), "l"(b), "r"(static_cast<uint32_t>(first)), "n"(kAcross ? 1 : 0));
}

// sums(64, 128) = a(64, 16) · b(128, 16)ᵀ, both in shared memory along their depth, added to sums
// unless `first`.
__device__ __forceinline__ void multiply_64x128(float (&sums)[64], uint64_t a, uint64_t b,
                                                bool first) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.eq.u32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, add, 1, 1, 0, 0;\n"
      "}"
      : INGOT_64(sums, 0)
      : "l"(a), "l"(b), "r"(static_cast<uint32_t>(first)));
}

// sums(64, 64) = a(64, 16) · b(16, 64), with a in registers in the layout of two multiplications'
// sums, and b in shared memory across its depth.
__device__ __forceinline__ void multiply_held_64x64(float (&sums)[32], const uint32_t* a,
                                                    uint64_t b, bool first) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.eq.u32 add, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, add, 1, 1, 1;\n"
      "}"
      : INGOT_8(sums, 0), INGOT_8(sums, 8), INGOT_8(sums, 16), INGOT_8(sums, 24)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<uint32_t>(first)));
}

// sums(64, 64) = a(64, 16) · b(16, 64), both in shared memory across their depth.
__device__ __forceinline__ void multiply_across_64x64(float (&sums)[32], uint64_t a, uint64_t b,
                                                      bool first) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.eq.u32 add, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, add, 1, 1, 1, 1;\n"
      "}"
      : INGOT_8(sums, 0), INGOT_8(sums, 8), INGOT_8(sums, 16), INGOT_8(sums, 24)
      : "l"(a), "l"(b), "r"(static_cast<uint32_t>(first)));
}

// Keeps the compiler from reading the results of multiplications before they were waited for.
template <int kCount>
__device__ __forceinline__ void wgmma_read(float (&sums)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

#undef INGOT_8
#undef INGOT_64

}  // namespace ingot::cuda::hopper
