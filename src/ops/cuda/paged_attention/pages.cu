// Writes new keys and values to their pages, and reads those of a sequence in one piece.
#include "ops/cuda/common/early.cuh"
#include "ops/cuda/common/lanes.cuh"
#include "ops/cuda/paged_attention/pages.cuh"
#include "ops/kernels/paged_attention.h"

namespace ingot::cuda {
namespace {

constexpr int kThreads = 256;

template <class T>
struct NewHeads {
  const T *k, *v;  // (N, G, D) with these strides
  int64_t k_row, k_head, v_row, v_head;
};

// A block per row.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    store_kernel(NewHeads<T> heads, T* pages, const int32_t* ends, const int32_t* first_pages,
                 const int32_t* page_ids, int groups, int D) {
  let_next_start();
  wait_for_previous();
  const int64_t row = blockIdx.x;
  const int position = ends[row] - 1;
  if (position < 0) return;
  const int page = page_ids[first_pages[row] + position / static_cast<int>(kPageTokens)];
  const int token = position % static_cast<int>(kPageTokens), per_head = D / kWidth;
  for (int i = static_cast<int>(threadIdx.x); i < groups * per_head; i += kThreads) {
    const int group = i / per_head, column = i % per_head * kWidth;
    T* key = pages + page_offset(page, group, groups, D) + token * D + column;
    const auto k = load_raw<kWidth>(heads.k + row * heads.k_row + group * heads.k_head + column);
    const auto v = load_raw<kWidth>(heads.v + row * heads.v_row + group * heads.v_head + column);
    *reinterpret_cast<Raw<T, kWidth>*>(key) = k;
    *reinterpret_cast<Raw<T, kWidth>*>(key + kPageTokens * D) = v;
  }
}

// A block per position.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const T* pages, const int32_t* page_ids, int64_t first, T* k, T* v, int groups,
                  int D) {
  const int64_t n = blockIdx.x, position = first + n;
  const int page = page_ids[position / kPageTokens];
  const int token = static_cast<int>(position % kPageTokens), per_head = D / kWidth;
  for (int i = static_cast<int>(threadIdx.x); i < groups * per_head; i += kThreads) {
    const int group = i / per_head, column = i % per_head * kWidth;
    const T* key = pages + page_offset(page, group, groups, D) + token * D + column;
    const int64_t to = (n * groups + group) * D + column;
    *reinterpret_cast<Raw<T, kWidth>*>(k + to) = load_raw<kWidth>(key);
    *reinterpret_cast<Raw<T, kWidth>*>(v + to) = load_raw<kWidth>(key + kPageTokens * D);
  }
}

}  // namespace

void paged_store(Context& ctx, const Tensor& k, const Tensor& v, const PagedCache& cache,
                 const PagedRows& rows) {
  const int D = static_cast<int>(k.shape[2]), G = static_cast<int>(cache.kv_heads);
  with_device_type_of<DType::F32, DType::BF16>(k.dtype, [&](auto tag) {
    using T = decltype(tag);
    const NewHeads<T> heads{static_cast<const T*>(k.data),
                            static_cast<const T*>(v.data),
                            k.strides[0],
                            k.strides[1],
                            v.strides[0],
                            v.strides[1]};
    T* const pages = static_cast<T*>(cache.pages.data);
    const bool fits = D % Vec<T>::kSize == 0 && fits_vec(heads.k, heads.k_row) &&
                      fits_vec(heads.v, heads.v_row) && fits_vec(heads.k, heads.k_head) &&
                      fits_vec(heads.v, heads.v_head) && fits_vec(pages, D);
    with_width<T>(fits, [&](auto width) {
      launch_early({ctx, blocks_for(k.shape[0], 1), kThreads}, store_kernel<T, width>, heads, pages,
                   rows.ends.as<int32_t>(), rows.first_pages.as<int32_t>(),
                   rows.page_ids.as<int32_t>(), G, D);
    });
  });
}

void paged_gather(Context& ctx, const PagedCache& cache, const Tensor& page_ids, int64_t first,
                  const Tensor& k, const Tensor& v) {
  const int D = static_cast<int>(k.shape[2]), G = static_cast<int>(cache.kv_heads);
  with_device_type_of<DType::F32, DType::BF16>(k.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* const pages = static_cast<const T*>(cache.pages.data);
    T *const keys = static_cast<T*>(k.data), *const values = static_cast<T*>(v.data);
    with_width<T>(D % Vec<T>::kSize == 0 && fits_vec(pages, D), [&](auto width) {
      launch({ctx, blocks_for(k.shape[0], 1), kThreads}, gather_kernel<T, width>, pages,
             page_ids.as<int32_t>(), first, keys, values, G, D);
    });
  });
}

}  // namespace ingot::cuda
