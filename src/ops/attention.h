// Causal attention, blocked with an online softmax: the T×T scores are never in memory.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/rope.h"

namespace ingot {

// The largest D of the GPU kernels; the CPU kernels have no limit.
inline constexpr int64_t kMaxCudaHeadDim = 256;

struct AttentionOptions {
  double scale = 0.0;    // 0 = 1/sqrt(D)
  double softcap = 0.0;  // c: scaled scores become c·tanh(score/c); 0 = off
  bool causal = true;
  int64_t window = 0;  // a query sees the last `window` keys, including its own; 0 = all
  // document_start(B, T) I32: for each token, the index within its row of its document's first
  // token. A query sees only keys from there on. Undefined: one document per row. Needs causal and
  // Tq == Tk.
  Tensor document_start;
  // What the host knows about document_start; 0: unknown. With 0 a GPU uses its slow kernels, since
  // it would have to wait to read document_start.
  int64_t num_documents = 0;        // over all rows; each row starts a new document
  int64_t max_document_tokens = 0;  // of the longest document
};

// The tensors of one call. Any strides with a contiguous last dim, so packed QKV rows need no copy.
// G divides H (grouped queries: head h reads group h·G/H). With causal, query t is at key position
// Tk - Tq + t (decoding with a cache).
struct AttentionTensors {
  Tensor q;    // (B, Tq, H, D)
  Tensor k;    // (B, Tk, G, D)
  Tensor v;    // (B, Tk, G, D)
  Tensor out;  // (B, Tq, H, D), written by the forward pass
  // (B, H, Tq) F32 (F64 for F64): log-sum-exp of the scaled and capped scores. Written by the
  // forward pass, read by the backward pass.
  Tensor lse;
};

// Further tensors of the backward pass; shapes and strides as for out, q, k, v.
struct AttentionGradients {
  Tensor dout;        // read
  Tensor dq, dk, dv;  // written
};

void attention_forward(Context& ctx, const AttentionTensors& tensors,
                       const AttentionOptions& options);

// Deterministic for any number of threads.
void attention_backward(Context& ctx, const AttentionTensors& tensors,
                        const AttentionGradients& gradients, const AttentionOptions& options);
// attention_backward() followed by rope_backward() of dq and dk: gradients of the queries and keys
// before rope_forward(). Needs Tq == Tk. A GPU with a kernel for both rounds dq and dk once instead
// of twice.
void attention_rope_backward(Context& ctx, const AttentionTensors& tensors,
                             const AttentionGradients& gradients, const AttentionOptions& options,
                             const RopeInput& rope);

// The calls that a workspace must be large enough for: forward and backward of these shapes.
struct AttentionCalls {
  DType dtype;
  int64_t B, Tq, Tk, H, G, D;
  bool deterministic;  // as in the context
  // True if every call is causal, without soft cap or documents, and no window hides a key; a
  // token's heads are adjacent; tokens and rows are multiples of 16 bytes apart; dout has the
  // layout of out, and dv that of dk. Holds in training without QK-norm.
  bool whole_rows = false;
};

// In addition, on the CPU each thread keeps its own buffer (2.7 MB at D 128).
int64_t attention_workspace_bytes(const DeviceFacts& facts, const AttentionCalls& calls);

}  // namespace ingot
