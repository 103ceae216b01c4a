#include "ops/cuda/paged_attention/decode.cuh"

#include <algorithm>
#include <bit>

#include "ops/kernels/paged_attention.h"

namespace ingot::cuda {
namespace {

using namespace decode;

// As many blocks for each row and group as fill the GPU, up to the largest cluster that every GPU
// with clusters has, and no more than there are pages.
unsigned cluster_for(const Context& ctx, int64_t cells, int64_t context) {
  constexpr int64_t kBlocksPerSm = 2, kMost = 8;
  if (ctx.cuda->properties().major < 9) return 1;
  const int64_t wanted = std::min(kBlocksPerSm * ctx.cuda->num_sms() / cells,
                                  (context + kPageTokens - 1) / kPageTokens);
  return static_cast<unsigned>(
      std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(wanted, 1, kMost))));
}

struct Extents {
  int64_t N, context;
};

template <class S>
void run(Context& ctx, const Call& call, const Extents& extents) {
  const auto [N, context] = extents;
  const int64_t cells = call.groups * ((call.in_group + S::kHeads - 1) / S::kHeads);
  const unsigned cluster = cluster_for(ctx, N * cells, context);
  launch_early({.ctx = ctx,
                .blocks = dim3(cluster, static_cast<unsigned>(cells), static_cast<unsigned>(N)),
                .threads = S::kThreads,
                .cluster = cluster},
               attention_kernel<S>, call);
}

template <class T, int kHeads>
void run_width(Context& ctx, const Call& call, const Extents& extents, bool vectors) {
  constexpr int kSize = Vec<T>::kSize;
  const int D = call.D;
  if (!vectors || D > 2 * kWarp * kSize) return run<Shape<T, 1, kWarp, 8, 1>>(ctx, call, extents);
  if (D <= 8 * kSize) return run<Shape<T, kHeads, 8, 1>>(ctx, call, extents);
  if (D <= 16 * kSize) return run<Shape<T, kHeads, 16, 1>>(ctx, call, extents);
  if (D <= 32 * kSize) return run<Shape<T, kHeads, 32, 1>>(ctx, call, extents);
  if constexpr (std::is_same_v<T, float>) run<Shape<T, kHeads, 32, 2>>(ctx, call, extents);
}

}  // namespace

void paged_decode(Context& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                  const PagedCache& cache, const PagedRows& rows, const AttentionOptions& options,
                  const Tensor& out) {
  const int64_t N = q.shape[0], H = q.shape[1], D = q.shape[2], G = cache.kv_heads;
  const Call call{.q = q.data,
                  .k = k.data,
                  .v = v.data,
                  .out = out.data,
                  .pages = cache.pages.data,
                  .ends = rows.ends.as<int32_t>(),
                  .first_pages = rows.first_pages.as<int32_t>(),
                  .page_ids = rows.page_ids.as<int32_t>(),
                  .q_row = q.strides[0],
                  .q_head = q.strides[1],
                  .k_row = k.strides[0],
                  .k_head = k.strides[1],
                  .v_row = v.strides[0],
                  .v_head = v.strides[1],
                  .out_row = out.strides[0],
                  .out_head = out.strides[1],
                  .scale = static_cast<float>(options.scale),
                  .softcap = static_cast<float>(options.softcap),
                  .window = static_cast<int>(options.window),
                  .groups = static_cast<int>(G),
                  .in_group = static_cast<int>(H / G),
                  .D = static_cast<int>(D)};
  const Extents extents{N, rows.context};
  with_device_type_of<DType::F32, DType::BF16>(q.dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto fits = [](const Tensor& heads) {
      const T* data = static_cast<const T*>(heads.data);
      return fits_vec(data, heads.strides[0]) && fits_vec(data, heads.strides[1]);
    };
    const bool vectors =
        fits(q) && fits(k) && fits(v) && fits_vec(static_cast<const T*>(call.pages), D);
    if (call.in_group == 1) return run_width<T, 1>(ctx, call, extents, vectors);
    if constexpr (sizeof(T) == 2)  // of F32 a lane has no registers for eight heads
      if (call.in_group > 4) return run_width<T, 8>(ctx, call, extents, vectors);
    run_width<T, 4>(ctx, call, extents, vectors);
  });
}

}  // namespace ingot::cuda
