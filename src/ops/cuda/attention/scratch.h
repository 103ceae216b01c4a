// How much scratch attention takes on a GPU, and how a batch is cut so that no call takes more. By
// facts and shapes alone, and free of CUDA headers: a build without CUDA answers the same.
#pragma once

#include "core/device/device_facts.h"
#include "ops/attention.h"

namespace ingot::cuda {

int64_t attention_workspace_bytes(const DeviceFacts& facts, const AttentionCalls& calls);

// Whether cuDNN or our kernels for Hopper are asked at all.
bool is_for_cudnn(DType dtype, int64_t B, int64_t Tq, int64_t Tk, int64_t H, int64_t D);

// Of our backward pass on Hopper: heads of kHopperHeadWidth, in blocks of tokens.
inline constexpr int kHopperHeadWidth = 64, kHopperBlockTokens = 128;
// Whether it takes whole rows of T tokens and heads of D there.
bool is_for_hopper(const DeviceFacts& facts, DType dtype, int64_t T, int64_t D);
// Rows of a batch that one call takes.
int64_t hopper_rows_at_once(int64_t B, int64_t T, int64_t H);

// The most that a cuDNN graph may ask for without being refused. Forward, rows as sequences:
inline constexpr int64_t kCudnnForwardBytes = int64_t{16} << 20;

// How much of the batch one backward call of cuDNN takes: whole sequences, or where one is too much
// some groups of heads of one. Sequences and groups are independent.
struct CudnnPiece {
  int64_t sequences, groups;
};
CudnnPiece cudnn_row_piece(bool deterministic, int64_t B, int64_t T, int64_t H, int64_t G,
                           int64_t D);
// The most for a graph of such a piece.
int64_t cudnn_backward_bytes(const CudnnPiece& piece, bool deterministic, int64_t T, int64_t H,
                             int64_t G, int64_t D);

// Documents of a graph; unused places cost little, and further documents another call.
inline constexpr int64_t kMinDocuments = 16, kMaxDocuments = 256;
// The most for a graph over documents in a batch of this shape, either direction.
int64_t cudnn_document_bytes(int64_t B, int64_t T, int64_t H, int64_t G, int64_t D);
// A backward piece of at most `num_documents` of `tokens` each, in a batch of this shape.
CudnnPiece cudnn_document_piece(bool deterministic, int64_t num_documents, int64_t tokens,
                                int64_t B, int64_t T, int64_t H, int64_t G, int64_t D);

// Of list_documents(): the most tensors over documents, and the most that the list of N documents
// takes beside a graph.
inline constexpr int kMaxListedTensors = 9;
int64_t document_list_bytes(int64_t N);

}  // namespace ingot::cuda
