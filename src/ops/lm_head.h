// Output head fused with cross-entropy, in chunks of tokens: the (N, V) logits never exist.
#pragma once

#include <cstdint>
#include <functional>

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/fp8.h"
#include "ops/matmul.h"

namespace ingot {

struct LossOptions {
  int32_t ignore_index = -1;  // targets equal to it add neither loss nor gradient
  double z_loss = 0.0;        // adds z_loss · lse² to each token's loss
  double softcap = 0.0;       // logits ← c·tanh(logits/c) before the softmax; 0 = off
  int64_t chunk = 512;        // tokens at a time
};

// losses(N) F32 (F64 for F64): loss of each token in nats, z-loss included, 0 where ignored.
// h(N, C), w(V, C), targets(N) I32; throws ErrorCode::Data when a target is neither in [0, V) nor
// ignore_index (on a GPU the caller has made sure). Logits of a chunk are F32 on the CPU and of h's
// dtype on a GPU, where they are the largest thing the step moves; softmax and loss are F32 on
// both.
void lm_head_loss_forward(Context& ctx, const Tensor& h, const Tensor& w, const Tensor& targets,
                          const LossOptions& options, const Tensor& losses);

// The same losses, and in the same pass over each chunk the gradients of scale · Σ losses, scale
// (1) F64, read when the work runs: dh(N, C), which may be h, is overwritten, dw(V, C) (F32; F64
// for F64) overwritten or accumulated.
void lm_head_loss_backward(Context& ctx, const Tensor& h, const Tensor& w, const Tensor& targets,
                           const LossOptions& options, const Tensor& scale, const Tensor& losses,
                           const Tensor& dh, const Tensor& dw, Accumulate accumulate_dw);

// The same with 8-bit products, fp8.h. h is rounded by h8's scale (its matrices are not used, its
// amax is raised), w is rounded already, rows and transposed; the gradient of the logits, whose
// largest value is known to be near `scale`, needs no scale from outside.
void lm_head_loss_forward(Context& ctx, const Tensor& h, const Quantized& h8, const Quantized& w,
                          const Tensor& targets, const LossOptions& options, const Tensor& losses);
void lm_head_loss_backward(Context& ctx, const Tensor& h, const Quantized& h8, const Quantized& w,
                           const Tensor& targets, const LossOptions& options, const Tensor& scale,
                           const Tensor& losses, const Tensor& dh, const Tensor& dw,
                           Accumulate accumulate_dw);

// A vocabulary whose rows are spread over ranks.
struct VocabularyShard {
  int64_t vocab = 0;       // rows of all shards together
  int64_t first = 0;       // the row that this shard begins with
  int64_t num_shards = 1;  // in order of their rows
  // all(num_shards, n, 3) ← own(n, 3) of each shard, in that order; called once for every chunk of
  // tokens, by all shards alike.
  std::function<void(const Tensor& own, const Tensor& all)> gather;
};

// The same where w(V_local, C) and dw are a shard of the head. Every rank has all of h and gets the
// losses of all tokens; dh is this shard's part of a sum over the shards.
void lm_head_loss_forward(Context& ctx, const Tensor& h, const Tensor& w,
                          const VocabularyShard& shard, const Tensor& targets,
                          const LossOptions& options, const Tensor& losses);
void lm_head_loss_backward(Context& ctx, const Tensor& h, const Tensor& w,
                           const VocabularyShard& shard, const Tensor& targets,
                           const LossOptions& options, const Tensor& scale, const Tensor& losses,
                           const Tensor& dh, const Tensor& dw, Accumulate accumulate_dw);

// What a shard says of its logits(N, V_local), rows [first, first + V_local) of the vocabulary, and
// leaves as they are: statistics(N, 3), for each token the largest logit, Σ exp(logit - largest)
// and the target's logit, or 0 where another shard has it; all 0 where the target is ignored.
// Logits are F32 or F64 on the CPU, statistics F32 (F64 for F64), after the soft-cap. Targets may
// be any of the vocabulary.
void cross_entropy_statistics(Context& ctx, const Tensor& logits, const Tensor& targets,
                              int64_t first, const LossOptions& options, const Tensor& statistics);
// losses(N) of the whole vocabulary, from statistics(R, N, 3) of all shards, which every shard adds
// up in the same order; and the shard's logits become the gradient of scale · Σ losses with respect
// to themselves, scale (1) F64. Undefined: losses alone.
void cross_entropy_from_statistics(Context& ctx, const Tensor& logits, const Tensor& targets,
                                   int64_t first, const LossOptions& options,
                                   const Tensor& statistics, const Tensor& scale,
                                   const Tensor& losses);

int64_t lm_head_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t chunk,
                                int64_t vocab);
// Of one of num_shards, which has `vocab` rows.
int64_t lm_head_shard_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t chunk,
                                      int64_t vocab, int64_t num_shards);
// Of the 8-bit form, for h(N, width).
int64_t lm_head_fp8_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t chunk,
                                    int64_t vocab, int64_t width);

}  // namespace ingot
