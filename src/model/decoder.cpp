#include "model/decoder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error/error.h"
#include "model/norm.h"
#include "ops/axpy.h"
#include "ops/embedding.h"
#include "ops/matmul.h"
#include "ops/memory.h"

namespace ingot {
namespace {

// What all layers share, of a whole chunk.
LayerTensors shared_tensors(const ModelConfig& config, const PlacedTensors& placed) {
  return tensors_of(config, [&](std::string_view what) {
    return placed.try_find("shared." + std::string(what));
  });
}

}  // namespace

Decoder::Decoder(Context& ctx, const ModelConfig& config, int64_t context, int64_t chunk,
                 const PlacedTensors& placed)
    : ctx_(ctx),
      config_(config),
      context_(context),
      chunk_(chunk),
      rows_{.tokens = placed.find("tokens"),
            .positions = placed.try_find("positions"),
            .embedding = placed.find("embedding.weight"),
            .position = placed.try_find("position.weight"),
            .norm = {placed.find("final_norm.weight"), placed.try_find("final_norm.bias")},
            .final_norm = placed.find("final_norm"),
            .final_rstd = placed.find("final_rstd"),
            .head = placed.find(config.tied ? "embedding.weight" : "head.weight"),
            .logits = placed.find("logits"),
            .layer = shared_tensors(config, placed)},
      rope_(rope_input(config, placed)),
      logits_(static_cast<size_t>(config.vocab)) {
  for (int64_t i = 0; i < config.layers; ++i) {
    auto row = [&](std::string_view what) { return placed.try_find(layer_name(i, what)); };
    layers_.push_back({.weights = layer_parts<Operand>(row),
                       .cache_k = row("cache.k"),
                       .cache_v = row("cache.v")});
  }
  if (rope_.cos.defined()) rope_table(ctx_, rope_frequencies(config.rope), rope_.cos, rope_.sin);
}

// What scaling makes of the frequencies depends on how long the sequence has become: those of the
// new tokens; what was rotated before stays as it is.
void Decoder::rotate_for(int64_t count) {
  const auto rows = [&](const Tensor& table) { return table.slice(0, length_, length_ + count); };
  rope_table(ctx_, rope_frequencies(config_.rope), rows(rope_.cos), rows(rope_.sin), length_);
}

std::span<const float> Decoder::append(std::span<const int32_t> tokens, FirstNotFinite* search) {
  check(!tokens.empty(), ErrorCode::Internal, "Decoder::append expected tokens, got none");
  const auto count = static_cast<int64_t>(tokens.size());
  check(length_ + count <= context_, ErrorCode::Usage,
        "the sequence would be {} tokens long, the context holds {}: ask for fewer tokens or a "
        "shorter prompt",
        length_ + count, context_);
  if (rope_.cos.defined() && config_.rope.scaling == RopeScaling::Dynamic) rotate_for(count);
  for (int64_t done = 0; done < count; done += chunk_)
    append_chunk(tokens.subspan(static_cast<size_t>(done),
                                static_cast<size_t>(std::min(chunk_, count - done))),
                 search);

  // Only the last token's logits are wanted: its row of the last chunk's final norm.
  const int64_t last = (count - 1) % chunk_;
  const Tensor h = rows_.final_norm.slice(0, last, last + 1);  // (1, C)
  linear_forward(ctx_, h, rows_.head, rows_.logits);
  copy_to_host(ctx_, rows_.logits, logits_.data());
  is_finite_ = std::ranges::all_of(logits_, [](float x) { return std::isfinite(x); });
  if (search != nullptr) search->look("logits", rows_.logits);
  if (config_.softcap > 0) {
    const auto cap = static_cast<float>(config_.softcap);
    for (float& value : logits_) value = cap * std::tanh(value / cap);
  }
  return logits_;
}

void Decoder::append_chunk(std::span<const int32_t> tokens, FirstNotFinite* search) {
  const auto n = static_cast<int64_t>(tokens.size());
  const Layer layer(config_, 1, n);
  const LayerTensors x = activations(n);
  const Tensor ids = rows_.tokens.slice(0, 0, n);  // (n)
  copy_from_host(ctx_, tokens.data(), ids);
  embed(ids, x.residual);
  if (search != nullptr) search->look("embedding", x.residual);

  RopeInput rope = rope_;
  rope.first_position = length_;
  AttentionOptions attention = attention_options(config_);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const DecoderLayer& l = layers_[i];
    attention.window = config_.window_of(static_cast<int64_t>(i));
    const LayerPass pass{.w = l.weights, .x = x, .rope = rope, .attention = attention};
    const HeadViews heads = layer.attention().project_qkv(ctx_, pass);
    copy(ctx_, heads.k, l.cache_k.slice(1, length_, length_ + n));
    copy(ctx_, heads.v, l.cache_v.slice(1, length_, length_ + n));
    attention_forward(ctx_,
                      {.q = heads.q,
                       .k = l.cache_k.slice(1, 0, length_ + n),
                       .v = l.cache_v.slice(1, 0, length_ + n),
                       .out = x.attn.plain.reshape({1, n, config_.heads, config_.head_dim}),
                       .lse = x.lse},
                      attention);
    layer.attention().output(ctx_, pass);
    layer.mlp().hidden(ctx_, pass);
    layer.leave(ctx_, pass, x.residual);
    if (search != nullptr) search->look_at_layer(static_cast<int64_t>(i), x, x.residual);
  }
  const Tensor normed = rows_.final_norm.slice(0, 0, n), rstd = rows_.final_rstd.slice(0, 0, n);
  norm_forward(ctx_, x.residual, rows_.norm, config_.norm_eps, normed, rstd);
  if (search != nullptr) search->look_at_final_norm(config_.layers, normed, rstd);
  length_ += n;
}

void Decoder::embed(const Tensor& ids, const Tensor& stream) {
  embedding_forward(ctx_, ids, rows_.embedding, stream);
  if (config_.embedding_scale != 1.0) axpy(ctx_, config_.embedding_scale, stream, {}, stream);
  if (!rows_.position.defined()) return;
  std::vector<int32_t> places(static_cast<size_t>(ids.numel()));
  std::iota(places.begin(), places.end(), static_cast<int32_t>(length_));
  const Tensor positions = rows_.positions.slice(0, 0, ids.numel());  // (n)
  copy_from_host(ctx_, places.data(), positions);
  embedding_add(ctx_, positions, rows_.position, stream);
}

LayerTensors Decoder::activations(int64_t n) const {
  LayerTensors x = rows_.layer;
  const auto first_rows = [&](Tensor& whole) {
    if (whole.defined()) whole = whole.slice(0, 0, n);
  };
  for (Tensor* rows : {&x.residual, &x.attn_rstd, &x.qkv, &x.qk, &x.q_rstd, &x.k_rstd, &x.attn_out,
                       &x.attn_post_rstd, &x.mid, &x.mlp_rstd, &x.up, &x.mlp_out, &x.mlp_post_rstd})
    first_rows(*rows);
  for (Operand* rows : {&x.attn_norm, &x.attn, &x.mlp_norm, &x.act}) first_rows(rows->plain);
  // lse(1, H, n) is contiguous for every n, so it is cut from the flat memory, not sliced.
  x.lse = Tensor::contiguous(x.lse.data, x.lse.dtype, {1, config_.heads, n}, x.lse.device);
  return x;
}

}  // namespace ingot
