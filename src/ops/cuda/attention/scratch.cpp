#include "ops/cuda/attention/scratch.h"

#include <algorithm>

namespace ingot::cuda {
namespace {

// Kernels for Hopper are compiled for sm_90a alone. A build without CUDA speaks for one with them.
#ifdef INGOT_SM90A
constexpr bool kHasHopperKernels = true;
#else
constexpr bool kHasHopperKernels = false;
#endif

// Building cuDNN's graphs takes 0.7 s each, for one shape only. So lengths as prompts and caches
// have them, other at every call, are not for cuDNN, nor is work that our kernels do in tens of
// microseconds (estimated).
constexpr int64_t kCudnnTokens = 64;                       // T must be a multiple
constexpr int64_t kCudnnMultiplyAdds = int64_t{64} << 20;  // B·H·T·T·D at least

// What the workspace of a backward pass may take before it is run in pieces. On Hopper cuDNN's
// deterministic one stores the T×T gradients of the scores: 3.2 GB at B 32, H 12, T 2048; ours the
// sums of dq in F32 where it is not deterministic.
constexpr int64_t kPieceBytes = int64_t{1} << 30;
// The same for documents, whose graphs take as much for a short document as for the longest. Half
// of kPieceBytes, so that a deterministic run without documents needs no more than before.
constexpr int64_t kDocumentBytes = int64_t{1} << 29;
// What cuDNN 9.19 takes besides, some hundred bytes a document.
constexpr int64_t kDocumentExtraBytes = 1024;
// What cuDNN may take beyond our formula, which 9.19 meets to 256 bytes.
constexpr int64_t kCudnnMarginBytes = int64_t{16} << 20;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Pieces of at most `fit`, all of one size if that costs no more than twice as many: every size
// needs a graph of its own.
int64_t piece_of(int64_t total, int64_t fit) {
  fit = std::min(total, fit);
  for (int64_t size = fit; 2 * size >= fit; --size)
    if (total % size == 0) return size;
  return ceil_div(total, ceil_div(total, fit));
}

// The backward workspace of one head of a sequence of T tokens, as cuDNN 9.19 takes it: Σ dout·out;
// the scores' gradients in 16 bits, or dq's sums in 32; with grouped queries dk and dv of every
// head in 16.
int64_t head_bytes(bool deterministic, bool grouped, int64_t T, int64_t D) {
  const int64_t padded = ceil_div(T, 128) * 128;
  return padded * 4 + (deterministic ? padded * padded * 2 : padded * D * 4) +
         (grouped ? padded * D * 4 : 0);
}

CudnnPiece backward_piece(int64_t max_bytes, bool deterministic, int64_t num_sequences, int64_t T,
                          int64_t H, int64_t G, int64_t D) {
  const int64_t group_bytes = H / G * head_bytes(deterministic, H != G, T, D);
  const int64_t fitting = max_bytes / (G * group_bytes);
  if (fitting > 0) return {piece_of(num_sequences, fitting), G};
  return {1, piece_of(G, std::max<int64_t>(1, max_bytes / group_bytes))};
}

// What the documents of a graph may take: no more than the rows of the batch would.
int64_t document_bytes(int64_t B, int64_t T, int64_t H, int64_t G, int64_t D) {
  return std::min(kDocumentBytes, B * H * head_bytes(true, H != G, T, D));
}

int64_t fallback_bytes(const AttentionCalls& c) {
  return align_up(c.B * c.H * c.Tq * (c.dtype == DType::F64 ? 8 : 4));
}

int64_t hopper_bytes(const AttentionCalls& c) {
  const int64_t floats = hopper_rows_at_once(c.B, c.Tq, c.H) * c.H * c.Tq * size_of(DType::F32);
  return 2 * align_up(floats) + align_up(2 * size_of(DType::I32)) +
         (c.deterministic ? 0 : align_up(floats * kHopperHeadWidth));
}

// Of both directions, with documents and without.
int64_t cudnn_bytes(const AttentionCalls& c) {
  const CudnnPiece piece = cudnn_row_piece(c.deterministic, c.B, c.Tq, c.H, c.G, c.D);
  return std::max(
      {kCudnnForwardBytes,
       align_up(cudnn_backward_bytes(piece, c.deterministic, c.Tq, c.H, c.G, c.D)),
       // At worst every token is a document.
       document_list_bytes(c.B * c.Tq) + align_up(cudnn_document_bytes(c.B, c.Tq, c.H, c.G, c.D))});
}

}  // namespace

int64_t attention_workspace_bytes(const DeviceFacts& facts, const AttentionCalls& c) {
  // Documents that nobody counted, and what cuDNN refuses, go to our plain kernels.
  const int64_t fallback = fallback_bytes(c);
  if (!is_for_cudnn(c.dtype, c.B, c.Tq, c.Tk, c.H, c.D)) return fallback;
  const bool by_hopper = is_for_hopper(facts, c.dtype, c.Tq, c.D);
  // cuDNN's deterministic backward takes memory by the square of T: only where it may be called.
  const int64_t cudnn = by_hopper && c.whole_rows ? kCudnnForwardBytes : cudnn_bytes(c);
  return std::max({fallback, cudnn, by_hopper ? hopper_bytes(c) : 0});
}

bool is_for_cudnn(DType dtype, int64_t B, int64_t Tq, int64_t Tk, int64_t H, int64_t D) {
  return (dtype == DType::BF16 || dtype == DType::F16) && Tq == Tk && Tq % kCudnnTokens == 0 &&
         B * H * Tq * Tk * D >= kCudnnMultiplyAdds;
}

bool is_for_hopper(const DeviceFacts& facts, DType dtype, int64_t T, int64_t D) {
  return kHasHopperKernels && facts.major == 9 && dtype == DType::BF16 && D == kHopperHeadWidth &&
         T % kHopperBlockTokens == 0;
}

int64_t hopper_rows_at_once(int64_t B, int64_t T, int64_t H) {
  return std::clamp<int64_t>(kPieceBytes / (H * T * kHopperHeadWidth * size_of(DType::F32)), 1, B);
}

CudnnPiece cudnn_row_piece(bool deterministic, int64_t B, int64_t T, int64_t H, int64_t G,
                           int64_t D) {
  return backward_piece(kPieceBytes, deterministic, B, T, H, G, D);
}

int64_t cudnn_backward_bytes(const CudnnPiece& piece, bool deterministic, int64_t T, int64_t H,
                             int64_t G, int64_t D) {
  const int64_t heads = piece.sequences * piece.groups * (H / G);
  return heads * head_bytes(deterministic, H != G, T, D) + kCudnnMarginBytes;
}

int64_t cudnn_document_bytes(int64_t B, int64_t T, int64_t H, int64_t G, int64_t D) {
  return document_bytes(B, T, H, G, D) + kMaxDocuments * kDocumentExtraBytes;
}

CudnnPiece cudnn_document_piece(bool deterministic, int64_t num_documents, int64_t tokens,
                                int64_t B, int64_t T, int64_t H, int64_t G, int64_t D) {
  return backward_piece(document_bytes(B, T, H, G, D), deterministic, num_documents, tokens, H, G,
                        D);
}

int64_t document_list_bytes(int64_t N) {
  const int64_t documents = N + kMaxDocuments;
  return align_up(4 * documents * size_of(DType::I32)) +
         align_up(kMaxListedTensors * 2 * documents * size_of(DType::I64));
}

}  // namespace ingot::cuda
