#include "ops/cuda/attention/documents.h"

#include <algorithm>

#include "ops/cuda/attention/scratch.h"
#include "ops/cuda/common/device.cuh"

namespace ingot::cuda {
namespace {

constexpr int kListThreads = 1024;  // one a token

// Where list_documents writes.
struct DocumentTable {
  TokenStrides strides[kMaxListedTensors];
  int num_tensors, num_calls, per_call;
  int32_t* lengths;  // (num_calls, lengths_stride)
  int64_t* offsets;  // (num_tensors, num_calls, offsets_stride)
  int lengths_stride, offsets_stride;

  // The document that comes `place`-th begins at `token` of `row`.
  __device__ void put(int place, int64_t row, int64_t token, int length) const {
    const int call = place / per_call, i = place % per_call;
    if (place < 0 || call > num_calls) return;
    if (call < num_calls) lengths[int64_t{call} * lengths_stride + i] = length;
#pragma unroll
    for (int k = 0; k < kMaxListedTensors; ++k) {
      if (k >= num_tensors) break;
      const int64_t offset = row * strides[k].row + token * strides[k].token;
      int64_t* const calls = offsets + int64_t{k} * num_calls * offsets_stride;
      if (call < num_calls) calls[int64_t{call} * offsets_stride + i] = offset;
      if (i == 0 && call > 0) calls[int64_t{call - 1} * offsets_stride + per_call] = offset;
    }
  }
};

// Whether token n of the batch is the first of its document.
__device__ bool begins(const int32_t* document_start, unsigned n, unsigned T) {
  return document_start[n] == static_cast<int32_t>(n % T);
}

// document_start(N / T, T). A block counts for itself what begins before its tokens: at 64k tokens
// that is 64 loads a thread at most.
__global__ void __launch_bounds__(kListThreads)
    list_documents_kernel(const int32_t* document_start, unsigned N, unsigned T,
                          DocumentTable table) {
  constexpr int kWarps = kListThreads / kWarp;
  __shared__ int counts[kWarps];  // documents that begin in each warp's tokens
  const int warp = static_cast<int>(threadIdx.x) / kWarp,
            lane = static_cast<int>(threadIdx.x) % kWarp;
  const unsigned block0 = blockIdx.x * kListThreads, n = block0 + threadIdx.x;
  int before = 0;
#pragma unroll 8
  for (unsigned i = threadIdx.x; i < block0; i += kListThreads)
    before += begins(document_start, i, T) ? 1 : 0;
  before = block_sum<kListThreads>(before, counts);
  const unsigned ballot = __ballot_sync(0xffffffffu, n < N && begins(document_start, n, T));
  __syncthreads();  // all have read the sum
  if (lane == 0) counts[warp] = __popc(ballot);
  __syncthreads();
  int begun = before + __popc(ballot & (0xffffffffu >> (kWarp - 1 - lane)));  // up to this token
  int total = before;  // up to the end of the block
  for (int w = 0; w < kWarps; ++w) {
    begun += w < warp ? counts[w] : 0;
    total += counts[w];
  }

  const unsigned t = n % T;
  // The last token of a document writes its entry.
  if (n < N && (t + 1 == T || begins(document_start, n + 1, T)))
    table.put(begun - 1, n / T, document_start[n], static_cast<int>(t) + 1 - document_start[n]);
  if (blockIdx.x + 1 == gridDim.x)
    for (int place = total + static_cast<int>(threadIdx.x);
         place <= table.num_calls * table.per_call; place += kListThreads)
      table.put(place, N / T, 0, 0);
}

}  // namespace

void list_documents(Context& ctx, const Tensor& document_start,
                    std::span<const TokenStrides> tensors, int64_t per_call, const Tensor& lengths,
                    const Tensor& offsets) {
  check(tensors.size() <= kMaxListedTensors, ErrorCode::Internal,
        "expected at most {} tensors over documents, got {}", kMaxListedTensors, tensors.size());
  DocumentTable table{{},
                      static_cast<int>(tensors.size()),
                      static_cast<int>(lengths.shape[0]),
                      static_cast<int>(per_call),
                      static_cast<int32_t*>(lengths.data),
                      static_cast<int64_t*>(offsets.data),
                      static_cast<int>(lengths.shape[1]),
                      static_cast<int>(offsets.shape[2])};
  std::ranges::copy(tensors, table.strides);
  const int64_t N = document_start.numel();
  launch({ctx, blocks_for(N, kListThreads), kListThreads}, list_documents_kernel,
         static_cast<const int32_t*>(document_start.data), static_cast<unsigned>(N),
         static_cast<unsigned>(document_start.shape[1]), table);
}

}  // namespace ingot::cuda
