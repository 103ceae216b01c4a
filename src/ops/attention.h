// Causal attention, blocked with an online softmax: the T×T scores never exist in memory.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/rope.h"

namespace ingot {

// A GPU's kernels take no wider heads; the CPU's take any.
inline constexpr int64_t kMaxCudaHeadDim = 256;

struct AttentionOptions {
  double scale = 0.0;    // 0 = 1/sqrt(D)
  double softcap = 0.0;  // c: scaled scores become c·tanh(score/c); 0 = off
  bool causal = true;
  int64_t window = 0;  // a query sees the last `window` keys, itself included; 0 = all
  // document_start(B, T) I32: index within the row of the first token of each token's document; a
  // query sees only keys from there on. Empty: one document a row. Needs causal and Tq == Tk.
  Tensor document_start;
  // What whoever has document_start in host memory knows of it; 0: unknown. A GPU, which would have
  // to wait for a look, takes its slow kernels then.
  int64_t num_documents = 0;        // of all rows together; each row begins one
  int64_t max_document_tokens = 0;  // of the longest
};

// What one call attends with; any strides but a contiguous last dim, so packed QKV rows pass as
// they are. G divides H (grouped queries: head h reads group h·G/H). Under causal, query t stands
// at key position Tk - Tq + t (decoding with a cache).
struct AttentionTensors {
  Tensor q;    // (B, Tq, H, D)
  Tensor k;    // (B, Tk, G, D)
  Tensor v;    // (B, Tk, G, D)
  Tensor out;  // (B, Tq, H, D), written by the forward pass
  // (B, H, Tq) F32 (F64 for F64), written by the forward pass for the backward pass: log-sum-exp of
  // the scaled and capped scores.
  Tensor lse;
};

// What the backward pass reads and writes besides; shapes and stride freedom of out, q, k, v.
struct AttentionGradients {
  Tensor dout;        // read
  Tensor dq, dk, dv;  // written
};

void attention_forward(Context& ctx, const AttentionTensors& tensors,
                       const AttentionOptions& options);

// Deterministic for any thread count.
void attention_backward(Context& ctx, const AttentionTensors& tensors,
                        const AttentionGradients& gradients, const AttentionOptions& options);
// attention_backward(), then rope_backward() of dq and dk: the gradients of queries and keys as
// they were before rope_forward() turned them to q and k. Needs Tq == Tk. A GPU that has a kernel
// for both rounds dq and dk once instead of twice.
void attention_rope_backward(Context& ctx, const AttentionTensors& tensors,
                             const AttentionGradients& gradients, const AttentionOptions& options,
                             const RopeInput& rope);

// Which calls a workspace has to be enough for: forward and backward of these shapes.
struct AttentionCalls {
  DType dtype;
  int64_t B, Tq, Tk, H, G, D;
  bool deterministic;  // the context's
  // All are causal, without a soft cap, documents or a window that hides anything; a token's heads
  // side by
  // side, tokens and rows multiples of 16 bytes apart, dout laid out as out, dv as dk. As in
  // training without QK-norm.
  bool whole_rows = false;
};

// On the CPU besides, each thread keeps a buffer for its part (2.7 MB at D 128).
int64_t attention_workspace_bytes(const DeviceFacts& facts, const AttentionCalls& calls);

}  // namespace ingot
