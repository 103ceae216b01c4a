// The output head fused with cross-entropy, in chunks of tokens: the (N, V) logits are never in
// memory.
#pragma once

#include <cstdint>
#include <functional>

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/fp8.h"
#include "ops/matmul.h"

namespace ingot {

struct LossOptions {
  int32_t ignore_index = -1;  // targets with this value contribute neither loss nor gradient
  double z_loss = 0.0;        // adds z_loss · lse² to each token's loss
  double softcap = 0.0;       // logits ← c·tanh(logits/c) before the softmax; 0 = off
  int64_t chunk = 512;        // tokens per chunk
};

// losses(N) F32 (F64 for F64): the loss of each token in nats including the z-loss, 0 if ignored.
// h(N, C), w(V, C), targets(N) I32. Throws ErrorCode::Data if a target is neither in [0, V) nor
// ignore_index; on a GPU the caller guarantees it. A chunk's logits are F32 on the CPU and have h's
// dtype on a GPU, where they are the step's largest memory traffic. Softmax and loss are F32 on
// both.
void lm_head_loss_forward(Context& ctx, const Tensor& h, const Tensor& w, const Tensor& targets,
                          const LossOptions& options, const Tensor& losses);

// The same losses. The same pass over each chunk also computes the gradients of scale · Σ losses;
// scale (1) F64 is read when the work runs. dh(N, C), which may be h, is overwritten. dw(V, C)
// (F32; F64 for F64) is overwritten or accumulated.
void lm_head_loss_backward(Context& ctx, const Tensor& h, const Tensor& w, const Tensor& targets,
                           const LossOptions& options, const Tensor& scale, const Tensor& losses,
                           const Tensor& dh, const Tensor& dw, Accumulate accumulate_dw);

// The same with the 8-bit GEMMs of fp8.h. h is rounded with h8's scale (h8's matrices are unused,
// its amax is updated). w is already rounded, rows and transposed. The gradient of the logits needs
// no Quantized: its bound follows from `scale`.
void lm_head_loss_forward(Context& ctx, const Tensor& h, const Quantized& h8, const Quantized& w,
                          const Tensor& targets, const LossOptions& options, const Tensor& losses);
void lm_head_loss_backward(Context& ctx, const Tensor& h, const Quantized& h8, const Quantized& w,
                           const Tensor& targets, const LossOptions& options, const Tensor& scale,
                           const Tensor& losses, const Tensor& dh, const Tensor& dw,
                           Accumulate accumulate_dw);

// An output head whose vocabulary rows are split over ranks.
struct VocabularyShard {
  int64_t vocab = 0;       // rows of all shards
  int64_t first = 0;       // first row of this shard
  int64_t num_shards = 1;  // ordered by first row
  // all-gather: all(num_shards, n, 3) ← own(n, 3) of each shard, in order. Every shard calls it
  // once per chunk of tokens.
  std::function<void(const Tensor& own, const Tensor& all)> gather;
};

// The same if w(V_local, C) and dw are a shard of the head. Every rank has all of h and gets the
// losses of all tokens; dh is this shard's term of a sum over the shards.
void lm_head_loss_forward(Context& ctx, const Tensor& h, const Tensor& w,
                          const VocabularyShard& shard, const Tensor& targets,
                          const LossOptions& options, const Tensor& losses);
void lm_head_loss_backward(Context& ctx, const Tensor& h, const Tensor& w,
                           const VocabularyShard& shard, const Tensor& targets,
                           const LossOptions& options, const Tensor& scale, const Tensor& losses,
                           const Tensor& dh, const Tensor& dw, Accumulate accumulate_dw);

// A shard's contribution from its logits(N, V_local), rows [first, first + V_local) of the
// vocabulary; logits are not changed. statistics(N, 3) holds for each token the largest logit, Σ
// exp(logit - largest) and the target's logit (0 if another shard has it); all 0 if the target is
// ignored. On the CPU logits are F32 or F64; statistics are F32 (F64 for F64), after the soft cap.
// Targets may be of any shard.
void cross_entropy_statistics(Context& ctx, const Tensor& logits, const Tensor& targets,
                              int64_t first, const LossOptions& options, const Tensor& statistics);
// losses(N) over the whole vocabulary from statistics(R, N, 3) of all shards, added in the same
// order on every shard. Also replaces the shard's logits by the gradient of scale · Σ losses with
// respect to them; scale (1) F64. If scale is undefined, computes only the losses.
void cross_entropy_from_statistics(Context& ctx, const Tensor& logits, const Tensor& targets,
                                   int64_t first, const LossOptions& options,
                                   const Tensor& statistics, const Tensor& scale,
                                   const Tensor& losses);

int64_t lm_head_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t chunk,
                                int64_t vocab);
// For one of num_shards shards of a vocabulary of `vocab` rows: a head that tensor parallel ranks
// share, which no layout has yet.
int64_t lm_head_shard_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t chunk,
                                      int64_t vocab, int64_t num_shards);
// For the 8-bit form and h(N, width).
int64_t lm_head_fp8_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t chunk,
                                    int64_t vocab, int64_t width);

}  // namespace ingot
