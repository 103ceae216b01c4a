// The attention half of a layer: norm, QKV projection, attention, output projection. Each function
// stands beside its backward pass.
#pragma once

#include <cstdint>

#include "model/branch.h"
#include "spec/model/model_config.h"

namespace ingot {

// Heads as the attention op takes them: views into qkv (and qk).
struct HeadViews {
  Tensor q;   // (B, T, H, D)
  Tensor k;   // (B, T, G, D)
  Tensor v;   // (B, T, G, D)
  Tensor qk;  // (B, T, H+G, D) queries and keys, adjacent: rotated in one pass
};

class AttentionBranch {
 public:
  AttentionBranch(const ModelConfig& config, int64_t B, int64_t T)
      : config_(config), B_(B), T_(T) {}

  // residual → attn_norm → qkv, QK-norm, rotation; parts that the model lacks are skipped.
  HeadViews project_qkv(Context& ctx, const LayerPass& pass) const;
  // d.qkv → d.residual, accumulated.
  void project_qkv_backward(Context& ctx, const LayerPass& pass,
                            const LayerBackwardPass& back) const;

  // Heads → attn. Decoding attends to its cache instead.
  void attend(Context& ctx, const LayerPass& pass, const HeadViews& heads) const;
  // d.attn → d.qkv, including the backward pass of rotation and QK-norm.
  void attend_backward(Context& ctx, const LayerPass& pass, const LayerBackwardPass& back) const;

  // attn and residual → mid, through attn_out if a norm follows.
  void output(Context& ctx, const LayerPass& pass) const;
  // d.mid → d.out → d.attn.
  void output_backward(Context& ctx, const LayerPass& pass, const LayerBackwardPass& back) const;

  // All parts in order; backward() in reverse order.
  void forward(Context& ctx, const LayerPass& pass) const;
  void backward(Context& ctx, const LayerPass& pass, const LayerBackwardPass& back) const;

 private:
  // The heads inside `qkv` (N, qkv_rows) and, with QK-norm, `qk` (N, (H+G)·D).
  HeadViews heads(const Tensor& qkv, const Tensor& qk) const;
  // Heads [begin, begin + n) of rows (N, ·), as (N, n, D).
  Tensor columns(const Tensor& rows, int64_t begin, int64_t n) const;
  // The same in QK-norm's shape: (N, n, D), or (N, n·D) over the projection.
  Tensor normed_span(const Tensor& rows, int64_t begin, int64_t n) const;

  const ModelConfig& config_;
  int64_t B_, T_;
};

}  // namespace ingot
