#include "checkpoint/exchange/gguf/model.h"

#include <algorithm>
#include <cmath>

#include "core/error/error.h"

namespace ingot {
namespace {

// What llama.cpp has a place for under a name (its src/models), where the names differ.
struct Places {
  std::string_view name;
  bool out_bias = false, mlp_bias = false;
  bool any_head_dim = false;   // heads · head_dim need not be the width
  bool rope_divisors = false;  // rope_freqs.weight
  Activation activation = Activation::SwiGlu;
};
constexpr Places kPlaces[] = {
    {.name = "llama",
     .out_bias = true,
     .mlp_bias = true,
     .any_head_dim = true,
     .rope_divisors = true},
    {.name = "qwen2"},
    {.name = "qwen3", .any_head_dim = true},
    {.name = "olmo2"},
    {.name = "gpt2", .out_bias = true, .mlp_bias = true, .activation = Activation::Gelu},
    {.name = "gemma2", .any_head_dim = true, .activation = Activation::GeGlu},
};

const Places& places_of(const std::string& gguf) {
  return *std::ranges::find(kPlaces, gguf, &Places::name);
}

void check_places(const ModelConfig& m, const std::string& gguf) {
  const Places& has = places_of(gguf);
  const auto refuse = [&](bool needed, bool there, std::string_view what) {
    check(!needed || there, ErrorCode::Config,
          "llama.cpp has no place for {} under {}; use --to hf", what, gguf);
  };
  refuse(m.out_bias, has.out_bias, "model.out_bias");
  refuse(m.mlp_bias, has.mlp_bias, "model.mlp_bias");
  refuse(m.heads * m.head_dim != m.dim, has.any_head_dim,
         "a model.head_dim that is not dim / heads");
  refuse(!gguf_rope_divisors(m).empty(), has.rope_divisors, "llama3 scaling");
  refuse(m.activation != has.activation, false, "another model.activation");
}

// What Gemma 2 is there, said or not.
void check_gemma2(const ModelConfig& m) {
  check(m.attn_softcap > 0 && m.softcap > 0, ErrorCode::Config,
        "llama.cpp caps scores and logits of gemma2 in any case, got model.attn_softcap = {} and "
        "model.softcap = {}; use --to hf",
        m.attn_softcap, m.softcap);
  check(m.tied, ErrorCode::Config,
        "llama.cpp takes the embedding for the head of gemma2, got model.tied = false; use --to "
        "hf");
  for (int64_t layer = 0; layer < m.layers && m.window > 0 && m.window < m.context; ++layer)
    check((m.window_of(layer) > 0) == (layer % 2 == 0), ErrorCode::Config,
          "llama.cpp gives a window to every other layer of gemma2, the first one too, got "
          "model.window_layers = {}; use --to hf",
          m.window_layers);
}

void check_rope(const RopeConfig& rope) {
  check(rope.scaling != RopeScaling::Dynamic, ErrorCode::Config,
        "llama.cpp knows no dynamic scaling of rotary frequencies; use --to hf");
  // Keys for them exist, but are not read under these names.
  const RopeConfig own;
  check(rope.scaling != RopeScaling::Yarn ||
            (rope.beta_fast == own.beta_fast && rope.beta_slow == own.beta_slow),
        ErrorCode::Config,
        "llama.cpp computes yarn with beta_fast = {} and beta_slow = {} only, got model.rope."
        "beta_fast = {} and model.rope.beta_slow = {}; use --to hf",
        own.beta_fast, own.beta_slow, rope.beta_fast, rope.beta_slow);
}

void add_rope(GgufMetadata& metadata, const std::string& prefix, const ModelConfig& m) {
  metadata.add_u32(prefix + "rope.dimension_count", m.head_dim);
  metadata.add_f32(prefix + "rope.freq_base", m.rope.theta);
  if (m.rope.scaling == RopeScaling::Linear) {
    metadata.add(prefix + "rope.scaling.type", "linear");
    metadata.add_f32(prefix + "rope.scaling.factor", m.rope.factor);
  }
  if (m.rope.scaling == RopeScaling::Yarn) {
    metadata.add(prefix + "rope.scaling.type", "yarn");
    metadata.add_f32(prefix + "rope.scaling.factor", m.rope.factor);
    metadata.add_u32(prefix + "rope.scaling.original_context_length", m.rope.original_context);
    if (m.rope.attention_factor > 0)  // there it comes on top of yarn's own
      metadata.add_f32(prefix + "rope.scaling.attn_factor",
                       m.rope.attention_factor / gguf_yarn_factor(m));
  }
}

}  // namespace

Activation gguf_activation(const std::string& gguf) {
  return places_of(gguf).activation;
}

double gguf_attn_scale(const ModelConfig& m, const std::string& gguf) {
  // Of as many layers as Gemma 2 27B has, it takes the model for that one.
  constexpr int64_t kLayersOf27B = 46;
  const bool by_width = gguf == "gemma2" && m.layers == kLayersOf27B;
  return 1.0 / std::sqrt(static_cast<double>(by_width ? m.dim / m.heads : m.head_dim));
}

double gguf_yarn_factor(const ModelConfig& m) {
  return 0.1 * std::log(m.rope.factor) + 1.0;
}

void check_gguf_model(const ModelConfig& m, const Architecture& architecture) {
  const std::string& gguf = architecture.gguf;
  check_places(m, gguf);
  if (gguf == "gemma2") check_gemma2(m);
  check(m.window == 0 || m.window >= m.context || gguf == "gemma2", ErrorCode::Config,
        "llama.cpp knows no attention window of {}: beyond {} tokens it would compute another "
        "model; use --to hf",
        architecture.name, m.window);
  const double own_scale = gguf_attn_scale(m, gguf);
  const double scale =
      m.attn_scale > 0 ? m.attn_scale : 1.0 / std::sqrt(static_cast<double>(m.head_dim));
  check(std::abs(scale / own_scale - 1.0) < 1e-6, ErrorCode::Config,
        "llama.cpp scales the attention of such a model by {:.6g} only, got model.attn_scale = "
        "{:.6g}; use --to hf",
        own_scale, scale);
  if (m.positions == Positions::Rotary) check_rope(m.rope);
}

void add_gguf_model(GgufMetadata& metadata, const ModelConfig& m,
                    const Architecture& architecture) {
  const std::string prefix = architecture.gguf + ".";
  metadata.add_u32(prefix + "vocab_size", m.vocab);
  metadata.add_u32(prefix + "context_length", m.context);
  metadata.add_u32(prefix + "embedding_length", m.dim);
  metadata.add_u32(prefix + "block_count", m.layers);
  metadata.add_u32(prefix + "feed_forward_length", m.ffn);
  metadata.add_u32(prefix + "attention.head_count", m.heads);
  metadata.add_u32(prefix + "attention.head_count_kv", m.kv_heads);
  metadata.add_u32(prefix + "attention.key_length", m.head_dim);
  metadata.add_u32(prefix + "attention.value_length", m.head_dim);
  metadata.add_f32(prefix + (m.norm == NormKind::Layer ? "attention.layer_norm_epsilon"
                                                       : "attention.layer_norm_rms_epsilon"),
                   m.norm_eps);
  if (m.positions == Positions::Rotary) add_rope(metadata, prefix, m);
  if (architecture.gguf != "gemma2") return;
  // Without the key its windows are Gemma's own, of 4096.
  metadata.add_u32(prefix + "attention.sliding_window", m.window > 0 ? m.window : m.context);
  metadata.add_f32(prefix + "attn_logit_softcapping", m.attn_softcap);
  metadata.add_f32(prefix + "final_logit_softcapping", m.softcap);
}

RopeStyle gguf_rope_style(const std::string& gguf) {
  return gguf == "llama" ? RopeStyle::Interleaved : RopeStyle::HalfSplit;
}

std::vector<TensorRow> gguf_rows(const std::string& gguf) {
  std::vector<TensorRow> rows = {{"embedding.weight", {"token_embd.weight"}},
                                 {"position.weight", {"position_embd.weight"}},
                                 {"head.weight", {"output.weight"}}};
  const auto both = [&](const std::string& ours, const std::vector<std::string>& theirs) {
    for (const char* what : {".weight", ".bias"}) {
      TensorRow row{ours + what, {}};
      for (const std::string& name : theirs) row.theirs.push_back(name + what);
      rows.push_back(row);
    }
  };
  both("layers.{}.attn_norm", {"blk.{}.attn_norm"});
  if (gguf == "gpt2") {
    both("layers.{}.qkv", {"blk.{}.attn_qkv"});
    both("layers.{}.up", {"blk.{}.ffn_up"});
  } else {
    both("layers.{}.qkv", {"blk.{}.attn_q", "blk.{}.attn_k", "blk.{}.attn_v"});
    both("layers.{}.up", {"blk.{}.ffn_gate", "blk.{}.ffn_up"});
  }
  both("layers.{}.q_norm", {"blk.{}.attn_q_norm"});
  both("layers.{}.k_norm", {"blk.{}.attn_k_norm"});
  both("layers.{}.out", {"blk.{}.attn_output"});
  both("layers.{}.attn_post_norm", {"blk.{}.post_attention_norm"});
  both("layers.{}.mlp_norm", {"blk.{}.ffn_norm"});
  both("layers.{}.down", {"blk.{}.ffn_down"});
  both("layers.{}.mlp_post_norm", {"blk.{}.post_ffw_norm"});
  both("final_norm", {"output_norm"});
  return rows;
}

bool gguf_writes_tied_head(const std::string& gguf) {
  return gguf == "olmo2";
}

}  // namespace ingot
