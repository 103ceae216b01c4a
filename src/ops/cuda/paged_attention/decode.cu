#include "ops/cuda/paged_attention/decode.cuh"

#include "ops/kernels/paged_attention.h"

namespace ingot::cuda {
namespace {

using namespace decode;

template <class S>
void run(Context& ctx, Call call, int64_t N, int64_t splits) {
  const int tiles = (call.in_group + S::kHeads - 1) / S::kHeads;
  const int64_t cells = N * call.groups * tiles;
  const Workspace::Scope scope(ctx.workspace);
  if (splits > 1)
    call.partials =
        ctx.workspace.take(DType::F32, {cells * splits * S::kHeads * (call.D + 2)}).as<float>();
  launch_early({ctx,
                dim3(static_cast<unsigned>(splits), static_cast<unsigned>(call.groups * tiles),
                     static_cast<unsigned>(N)),
                kThreads},
               attention_kernel<S>, call);
}

template <class T, int kHeads>
void run_width(Context& ctx, const Call& call, int64_t N, int64_t splits, bool vectors) {
  constexpr int kSize = Vec<T>::kSize;
  const int D = call.D;
  if (!vectors || D > 2 * kWarp * kSize) return run<Shape<T, 1, kWarp, 8, 1>>(ctx, call, N, splits);
  if (D <= 8 * kSize) return run<Shape<T, kHeads, 8, 1>>(ctx, call, N, splits);
  if (D <= 16 * kSize) return run<Shape<T, kHeads, 16, 1>>(ctx, call, N, splits);
  if (D <= 32 * kSize) return run<Shape<T, kHeads, 32, 1>>(ctx, call, N, splits);
  if constexpr (std::is_same_v<T, float>) run<Shape<T, kHeads, 32, 2>>(ctx, call, N, splits);
}

}  // namespace

void paged_decode(Context& ctx, const Tensor& q, const PagedCache& cache, const PagedRows& rows,
                  const AttentionOptions& options, const Tensor& out) {
  const int64_t N = q.shape[0], H = q.shape[1], D = q.shape[2], G = cache.kv_heads;
  Call call{.q = q.data,
            .pages = cache.pages.data,
            .out = out.data,
            .ends = rows.ends.as<int32_t>(),
            .first_pages = rows.first_pages.as<int32_t>(),
            .page_ids = rows.page_ids.as<int32_t>(),
            .turns = rows.turns.as<int32_t>(),
            .partials = nullptr,
            .q_row = q.strides[0],
            .q_head = q.strides[1],
            .out_row = out.strides[0],
            .out_head = out.strides[1],
            .scale = static_cast<float>(options.scale),
            .softcap = static_cast<float>(options.softcap),
            .window = static_cast<int>(options.window),
            .groups = static_cast<int>(G),
            .in_group = static_cast<int>(H / G),
            .D = static_cast<int>(D)};
  const int64_t splits = decode_splits(ctx.facts, N * G);
  with_device_type_of<DType::F32, DType::BF16>(q.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T *queries = static_cast<const T*>(q.data), *pages = static_cast<const T*>(call.pages);
    const bool vectors = D % Vec<T>::kSize == 0 && fits_vec(queries, call.q_row) &&
                         fits_vec(queries, call.q_head) && fits_vec(pages, D);
    if (call.in_group == 1) return run_width<T, 1>(ctx, call, N, splits, vectors);
    if constexpr (sizeof(T) == 2)  // of F32 a lane has no registers for eight heads
      if (call.in_group > 4) return run_width<T, 8>(ctx, call, N, splits, vectors);
    run_width<T, 4>(ctx, call, N, splits, vectors);
  });
}

}  // namespace ingot::cuda
