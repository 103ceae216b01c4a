// The scratch of attention on a GPU, and the split of a batch that bounds it. It depends only on
// device facts and shapes and is free of CUDA headers: a build without CUDA gives the same answers.
#pragma once

#include "core/device/device_facts.h"
#include "ops/attention.h"

namespace ingot::cuda {

int64_t attention_workspace_bytes(const DeviceFacts& facts, const AttentionCalls& calls);

// Whether cuDNN or our Hopper kernels are tried.
bool is_for_cudnn(DType dtype, int64_t B, int64_t Tq, int64_t Tk, int64_t H, int64_t D);

// Our backward pass on Hopper: heads of kHopperHeadWidth, in blocks of tokens.
inline constexpr int kHopperHeadWidth = 64, kHopperBlockTokens = 128;
// Whether it supports whole rows of T tokens and heads of D there.
bool is_for_hopper(const DeviceFacts& facts, DType dtype, int64_t T, int64_t D);
// Rows of a batch per call.
int64_t hopper_rows_at_once(int64_t B, int64_t T, int64_t H);

// The largest workspace of a cuDNN graph that we accept. Forward, with rows as sequences:
inline constexpr int64_t kCudnnForwardBytes = int64_t{16} << 20;

// The part of the batch in one backward call of cuDNN: whole sequences, or if one is too large some
// groups of heads of one sequence. Sequences and groups are independent.
struct CudnnPiece {
  int64_t sequences, groups;
};
CudnnPiece cudnn_row_piece(bool deterministic, int64_t B, int64_t T, int64_t H, int64_t G,
                           int64_t D);
// The largest workspace for a graph of such a piece.
int64_t cudnn_backward_bytes(const CudnnPiece& piece, bool deterministic, int64_t T, int64_t H,
                             int64_t G, int64_t D);

// Documents per graph. Unused places cost little; more documents need another call.
inline constexpr int64_t kMinDocuments = 16, kMaxDocuments = 256;
// The largest workspace for a graph over documents in a batch of this shape, in either direction.
int64_t cudnn_document_bytes(int64_t B, int64_t T, int64_t H, int64_t G, int64_t D);
// A backward piece of at most `num_documents` of `tokens` each, in a batch of this shape.
CudnnPiece cudnn_document_piece(bool deterministic, int64_t num_documents, int64_t tokens,
                                int64_t B, int64_t T, int64_t H, int64_t G, int64_t D);

// For list_documents(): the largest number of tensors, and the bytes of the list of N documents, in
// addition to a graph's workspace.
inline constexpr int kMaxListedTensors = 9;
int64_t document_list_bytes(int64_t N);

}  // namespace ingot::cuda
