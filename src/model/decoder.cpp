#include "model/decoder.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "ops/embedding.h"
#include "ops/matmul.h"
#include "ops/memory.h"
#include "ops/rms_norm.h"

namespace ingot {

Decoder::Decoder(Context& ctx, const ModelConfig& config, int64_t context, int64_t chunk,
                 const PlacedTensors& placed)
    : ctx_(ctx),
      config_(config),
      context_(context),
      chunk_(chunk),
      placed_(placed),
      logits_(static_cast<size_t>(config.vocab)) {
  for (int64_t i = 0; i < config.layers; ++i) {
    auto row = [&](std::string_view what) { return placed.try_find(layer_name(i, what)); };
    layers_.push_back(
        {{row("attn_norm.weight"), row("qkv.weight"), row("q_norm.weight"), row("k_norm.weight"),
          row("out.weight"), row("mlp_norm.weight"), row("up.weight"), row("down.weight")},
         row("cache.k"),
         row("cache.v")});
  }
  rope_ = rope_input(config, placed.find("rope.cos"), placed.find("rope.sin"));
  rope_table(ctx_, rope_frequencies(config.rope), rope_.cos, rope_.sin);
}

std::span<const float> Decoder::append(std::span<const int32_t> tokens) {
  check(!tokens.empty(), ErrorCode::Internal, "Decoder::append expected tokens, got none");
  const auto count = static_cast<int64_t>(tokens.size());
  check(length_ + count <= context_, ErrorCode::Usage,
        "the sequence would be {} tokens long, the context holds {}: ask for fewer tokens or a "
        "shorter prompt",
        length_ + count, context_);
  for (int64_t done = 0; done < count; done += chunk_)
    append_chunk(tokens.subspan(static_cast<size_t>(done),
                                static_cast<size_t>(std::min(chunk_, count - done))));

  // Only the last token's logits are wanted: its row of the last chunk's final norm.
  const int64_t last = (count - 1) % chunk_;
  const Tensor h = placed_.find("final_norm").slice(0, last, last + 1);  // (1, C)
  const Tensor logits = placed_.find("logits");                          // (1, V) F32
  const Tensor head = placed_.find(config_.tied ? "embedding.weight" : "head.weight");
  linear_forward(ctx_, h, head, logits);
  copy_to_host(ctx_, logits, logits_.data());
  if (config_.softcap > 0) {
    const auto cap = static_cast<float>(config_.softcap);
    for (float& value : logits_) value = cap * std::tanh(value / cap);
  }
  return logits_;
}

void Decoder::append_chunk(std::span<const int32_t> tokens) {
  const auto n = static_cast<int64_t>(tokens.size());
  const Layer layer(config_, 1, n);
  const LayerTensors x = activations(n);
  const Tensor ids = placed_.find("tokens").slice(0, 0, n);  // (n)
  copy_from_host(ctx_, tokens.data(), ids);
  embedding_forward(ctx_, ids, placed_.find("embedding.weight"), x.residual);

  RopeInput rope = rope_;
  rope.first_position = length_;
  AttentionOptions attention;
  attention.window = config_.window;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const DecoderLayer& l = layers_[i];
    layer.norm_input(ctx_, l.weights, x);
    const HeadViews heads = layer.project_qkv(ctx_, l.weights, rope, x);
    copy(ctx_, heads.k, l.cache_k.slice(1, length_, length_ + n));
    copy(ctx_, heads.v, l.cache_v.slice(1, length_, length_ + n));
    attention_forward(ctx_,
                      {.q = heads.q,
                       .k = l.cache_k.slice(1, 0, length_ + n),
                       .v = l.cache_v.slice(1, 0, length_ + n),
                       .out = x.attn.plain.reshape({1, n, config_.heads, config_.head_dim}),
                       .lse = x.lse},
                      attention);
    layer.attention_output(ctx_, l.weights, x);
    layer.mlp_hidden(ctx_, l.weights, x);
    layer.mlp_output(ctx_, l.weights, x, x.residual);
  }
  rms_norm_forward(ctx_, x.residual, placed_.find("final_norm.weight"), config_.norm_eps,
                   placed_.find("final_norm").slice(0, 0, n),
                   placed_.find("final_rstd").slice(0, 0, n));
  length_ += n;
}

LayerTensors Decoder::activations(int64_t n) const {
  auto row = [&](std::string_view what) {
    const Tensor whole = placed_.try_find("shared." + std::string(what));
    return whole.defined() ? whole.slice(0, 0, n) : Tensor{};
  };
  LayerTensors x{row("residual"), row("attn_norm"), row("attn_rstd"), row("qkv"), row("qk"),
                 row("q_rstd"),   row("k_rstd"),    row("attn"),      {},         row("mid"),
                 row("mlp_norm"), row("mlp_rstd"),  row("up"),        row("act")};
  // lse(1, H, n) is contiguous for every n, so it is cut from the flat memory, not sliced.
  const Tensor lse = placed_.find("shared.lse");
  x.lse = Tensor::contiguous(lse.data, lse.dtype, {1, config_.heads, n}, lse.device);
  return x;
}

}  // namespace ingot
