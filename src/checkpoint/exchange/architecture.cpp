#include "checkpoint/exchange/architecture.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace ingot {
namespace {

using Rows = std::vector<ConfigRow>;

Rows operator+(Rows rows, const Rows& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

// What a member must say where only one value is computed.
ConfigRow only(std::string key, const nlohmann::json& value) {
  return {std::move(key), "", {value}, {{value, false}}};
}

// What the architectures differ in where a member is missing.
struct Defaults {
  bool tied = false;
  nlohmann::json kv_heads = nullptr;  // null: as many as heads
  int64_t head_dim = 0;
  double eps = 1e-6;
};

// Widths and lengths, as all of them but GPT-2 name them.
Rows shape_rows(const Defaults& defaults = {}) {
  return {{"hidden_size", "dim"},
          {"num_hidden_layers", "layers"},
          {"num_attention_heads", "heads"},
          {"num_key_value_heads", "kv_heads", {defaults.kv_heads, "heads"}},
          {"head_dim", "head_dim", {defaults.head_dim}},
          {"intermediate_size", "ffn"},
          {"vocab_size", "vocab"},
          {"max_position_embeddings", "context"},
          {"tie_word_embeddings", "tied", {defaults.tied}},
          {"rms_norm_eps", "norm_eps", {defaults.eps}},
          {"initializer_range", "init_std", {0.02}}};
}

using Words = std::vector<std::pair<nlohmann::json, SettingValue>>;

// Names of gelu in its tanh form, which differ in how it is written down; "gelu" is the other one.
Words tanh_gelu(const std::string& ours) {
  return {{"gelu_pytorch_tanh", ours},
          {"gelu_new", ours},
          {"gelu_fast", ours},
          {"gelu_python_tanh", ours},
          {"gelu_accurate", ours}};
}

Words gated_activations() {
  Words words = tanh_gelu("geglu");
  words.insert(words.begin(), {{"silu", "swiglu"}, {"swish", "swiglu"}});
  return words;
}

Rows gated_rows() {
  return {{"hidden_act", "activation", {"silu"}, gated_activations()}};
}

// One word for all projections of attention.
Rows attention_bias_rows() {
  return {{"attention_bias", "qkv_bias", {false}}, {"attention_bias", "out_bias", {false}}};
}

Rows gpt2_rows() {
  Words activations = tanh_gelu("gelu");
  std::swap(activations[0], activations[1]);  // "gelu_new" is what it has been published with
  activations.push_back({"relu2", "relu_squared"});
  return {{"n_embd", "dim", {768}},
          {"n_layer", "layers", {12}},
          {"n_head", "heads", {12}},
          {"n_head", "kv_heads", {12}},
          {"n_inner", "ffn", {nullptr, "dim", 4}},
          {"vocab_size", "vocab", {50257}},
          {"n_positions", "context", {1024}},
          {"tie_word_embeddings", "tied", {true}},
          {"layer_norm_epsilon", "norm_eps", {1e-5}},
          {"initializer_range", "init_std", {0.02}},
          {"activation_function", "activation", {"gelu_new"}, activations},
          {"scale_attn_weights", "attn_scale", {true}, {{true, 0.0}, {false, 1.0}}},
          only("scale_attn_by_inverse_layer_idx", false),
          only("add_cross_attention", false)};
}

Rows gemma2_rows() {
  using As = ConfigRow::As;
  return {
      {"hidden_activation", "activation", {"gelu_pytorch_tanh"}, gated_activations()},
      // An older word beside it, which is not looked at there either.
      {"hidden_act", "", {"gelu_pytorch_tanh"}, {{"gelu_pytorch_tanh", false}, {"gelu", false}}},
      {"query_pre_attn_scalar", "attn_scale", {256}, {}, As::InverseSquare},
      {"attn_logit_softcapping", "attn_softcap", {50.0}, {}, As::NullIsZero},
      {"final_logit_softcapping", "softcap", {30.0}, {}, As::NullIsZero},
      only("use_bidirectional_attention", false),
      only("sliding_window_size", 4096),  // beside "sliding_window" in some files, not looked at
      only("cache_implementation", "hybrid")};
}

std::vector<RopeKind> all_rope_kinds() {
  const ConfigRow factor = {"factor", "rope.factor"};
  const ConfigRow original = {
      "original_max_position_embeddings", "rope.original_context", {nullptr, "context"}};
  return {{"default", "none", {}},
          {"linear", "linear", {factor}},
          {"dynamic", "dynamic", {factor}},  // its original context is max_position_embeddings
          {"yarn",
           "yarn",
           {factor,
            original,
            {"beta_fast", "rope.beta_fast", {32.0}},
            {"beta_slow", "rope.beta_slow", {1.0}},
            {"attention_factor", "rope.attention_factor", {}, {}, ConfigRow::As::NullIsZero},
            only("truncate", true)}},
          {"llama3",
           "llama3",
           {factor,
            {"low_freq_factor", "rope.low_freq_factor"},
            {"high_freq_factor", "rope.high_freq_factor"},
            original}}};
}

std::vector<std::string> in_attention(const char* what) {
  std::vector<std::string> names;
  for (const char* projection : {"q", "k", "v"})
    names.push_back(fmt::format("layers.{{}}.self_attn.{}_proj.{}", projection, what));
  return names;
}

// Weights and biases of the projections, and what stands outside of layers.
std::vector<TensorRow> projections() {
  return {
      {"embedding.weight", {"embed_tokens.weight"}},
      {"layers.{}.qkv.weight", in_attention("weight")},
      {"layers.{}.qkv.bias", in_attention("bias")},
      {"layers.{}.out.weight", {"layers.{}.self_attn.o_proj.weight"}},
      {"layers.{}.out.bias", {"layers.{}.self_attn.o_proj.bias"}},
      {"layers.{}.up.weight", {"layers.{}.mlp.gate_proj.weight", "layers.{}.mlp.up_proj.weight"}},
      {"layers.{}.up.bias", {"layers.{}.mlp.gate_proj.bias", "layers.{}.mlp.up_proj.bias"}},
      {"layers.{}.down.weight", {"layers.{}.mlp.down_proj.weight"}},
      {"layers.{}.down.bias", {"layers.{}.mlp.down_proj.bias"}},
      {"head.weight", {"lm_head.weight"}}};
}

std::vector<TensorRow> with(std::vector<TensorRow> rows, const std::vector<TensorRow>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

std::vector<TensorRow> llama_tensors() {
  return with(projections(),
              {{"layers.{}.attn_norm.weight", {"layers.{}.input_layernorm.weight"}},
               {"layers.{}.q_norm.weight", {"layers.{}.self_attn.q_norm.weight"}},
               {"layers.{}.k_norm.weight", {"layers.{}.self_attn.k_norm.weight"}},
               {"layers.{}.mlp_norm.weight", {"layers.{}.post_attention_layernorm.weight"}},
               {"final_norm.weight", {"norm.weight"}}});
}

std::vector<TensorRow> olmo2_tensors() {
  return with(projections(),
              {{"layers.{}.attn_post_norm.weight", {"layers.{}.post_attention_layernorm.weight"}},
               {"layers.{}.q_norm.weight", {"layers.{}.self_attn.q_norm.weight"}},
               {"layers.{}.k_norm.weight", {"layers.{}.self_attn.k_norm.weight"}},
               {"layers.{}.mlp_post_norm.weight", {"layers.{}.post_feedforward_layernorm.weight"}},
               {"final_norm.weight", {"norm.weight"}}});
}

std::vector<TensorRow> gemma2_tensors() {
  std::vector<TensorRow> norms = {
      {"layers.{}.attn_norm.weight", {"layers.{}.input_layernorm.weight"}},
      {"layers.{}.attn_post_norm.weight", {"layers.{}.post_attention_layernorm.weight"}},
      {"layers.{}.mlp_norm.weight", {"layers.{}.pre_feedforward_layernorm.weight"}},
      {"layers.{}.mlp_post_norm.weight", {"layers.{}.post_feedforward_layernorm.weight"}},
      {"final_norm.weight", {"norm.weight"}}};
  for (TensorRow& norm : norms) norm.from_one = true;
  return with(projections(), norms);
}

std::vector<TensorRow> gpt2_tensors() {
  std::vector<TensorRow> rows = {{"embedding.weight", {"wte.weight"}},
                                 {"position.weight", {"wpe.weight"}},
                                 {"head.weight", {"lm_head.weight"}}};
  const auto both = [&](const std::string& ours, const std::string& theirs, bool transposed) {
    rows.push_back({ours + ".weight", {theirs + ".weight"}, transposed});
    rows.push_back({ours + ".bias", {theirs + ".bias"}});
  };
  both("layers.{}.attn_norm", "h.{}.ln_1", false);
  both("layers.{}.qkv", "h.{}.attn.c_attn", true);
  both("layers.{}.out", "h.{}.attn.c_proj", true);
  both("layers.{}.mlp_norm", "h.{}.ln_2", false);
  both("layers.{}.up", "h.{}.mlp.c_fc", true);
  both("layers.{}.down", "h.{}.mlp.c_proj", true);
  both("final_norm", "ln_f", false);
  return rows;
}

// The first that has words for a model is what it is exported as.
std::vector<Architecture> all_architectures() {
  return {{.name = "LlamaForCausalLM",
           .model_type = "llama",
           .base = "model.",
           .heads_divide_dim = true,
           .config = shape_rows() + gated_rows() + attention_bias_rows() +
                     Rows{{"mlp_bias", "mlp_bias", {false}}, only("rope_interleaved", false)},
           .tensors = llama_tensors(),
           .gguf = "llama"},
          {.name = "MistralForCausalLM",
           .model_type = "mistral",
           .base = "model.",
           .windows = WindowRule::Always,
           .config = shape_rows({.kv_heads = 8}) + gated_rows(),
           .tensors = llama_tensors(),
           .gguf = "llama"},
          {.name = "Qwen2ForCausalLM",
           .model_type = "qwen2",
           .base = "model.",
           .windows = WindowRule::Switched,
           .config = shape_rows({.kv_heads = 32}) + gated_rows() + Rows{only("use_mrope", false)},
           .implied = {{"qkv_bias", true}},
           .tensors = llama_tensors(),
           .gguf = "qwen2"},
          {.name = "Qwen3ForCausalLM",
           .model_type = "qwen3",
           .base = "model.",
           .windows = WindowRule::Switched,
           .config =
               shape_rows({.kv_heads = 32, .head_dim = 128}) + gated_rows() + attention_bias_rows(),
           .implied = {{"qk_norm", true}},
           .tensors = llama_tensors(),
           .gguf = "qwen3"},
          {.name = "Olmo2ForCausalLM",
           .model_type = "olmo2",
           .base = "model.",
           .config = shape_rows({.eps = 1e-5}) + gated_rows() + attention_bias_rows(),
           .implied = {{"qk_norm", true}, {"qk_norm_span", "projection"}, {"norm_place", "after"}},
           .tensors = olmo2_tensors(),
           .gguf = "olmo2"},
          {.name = "GPT2LMHeadModel",
           .model_type = "gpt2",
           .base = "transformer.",
           .config = gpt2_rows(),
           .implied = {{"positions", "learned"},
                       {"norm", "layer"},
                       {"qkv_bias", true},
                       {"out_bias", true},
                       {"mlp_bias", true},
                       {"head_dim", int64_t{0}}},
           .tensors = gpt2_tensors(),
           .gguf = "gpt2"},
          {.name = "Gemma2ForCausalLM",
           .model_type = "gemma2",
           .base = "model.",
           .scales_embedding = true,
           .heads_divide_dim = true,
           .windows = WindowRule::Alternating,
           .config = shape_rows({.tied = true, .kv_heads = 4, .head_dim = 256}) + gemma2_rows() +
                     attention_bias_rows(),
           .implied = {{"norm_place", "both"}},
           .tensors = gemma2_tensors(),
           .gguf = "gemma2"}};
}

const std::vector<Architecture>& table() {
  static const std::vector<Architecture> all = all_architectures();
  return all;
}

constexpr std::string_view kHarmless[] = {
    // what the file is
    "architectures", "model_type", "torch_dtype", "dtype", "transformers_version", "_name_or_path",
    "name_or_path", "_commit_hash", "auto_map", "is_llama_config", "transformers.js_config",
    "unsloth_fixed", "unsloth_version", "model_name",
    // ids of tokens, which the tokenizer and generation_config.json say too
    "bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id", "sep_token_id", "cls_token_id",
    "mask_token_id", "decoder_start_token_id",
    // training
    "attention_dropout", "attn_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop",
    "hidden_dropout", "embedding_dropout", "residual_dropout", "gradient_checkpointing",
    "problem_type", "finetuning_task", "task_specific_params", "id2label", "label2id", "num_labels",
    "router_aux_loss_coef", "finetuned",
    // how it is computed, not what
    "use_cache", "pretraining_tp", "_attn_implementation", "_attn_implementation_autoset",
    "attn_implementation", "output_attentions", "output_hidden_states", "output_scores",
    "return_dict", "return_dict_in_generate", "chunk_size_feed_forward", "torchscript",
    "use_bfloat16", "tf_legacy_loss", "reorder_and_upcast_attn", "fused_mlp", "fused_bias_fc",
    "use_flash_attn", "use_cache_quantization", "keys_to_ignore_at_inference",
    // generation
    "max_length", "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups",
    "diversity_penalty", "temperature", "top_k", "top_p", "typical_p", "repetition_penalty",
    "length_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids",
    "num_return_sequences", "forced_bos_token_id", "forced_eos_token_id", "remove_invalid_values",
    "exponential_decay_length_penalty", "suppress_tokens", "begin_suppress_tokens",
    // of models that are no decoders
    "prefix", "pruned_heads", "tokenizer_class", "tie_encoder_decoder",
    "cross_attention_hidden_size", "is_decoder", "is_encoder_decoder", "summary_activation",
    "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj", "n_ctx"};

}  // namespace

std::span<const Architecture> architectures() {
  return table();
}

std::span<const RopeKind> rope_kinds() {
  static const std::vector<RopeKind> kinds = all_rope_kinds();
  return kinds;
}

const Architecture* find_architecture(std::string_view wanted) {
  for (const Architecture& architecture : table())
    if (architecture.name == wanted || architecture.model_type == wanted) return &architecture;
  return nullptr;
}

std::string architecture_names() {
  std::vector<std::string> names;
  for (const Architecture& architecture : table()) names.push_back(architecture.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_harmless_config(std::string_view key) {
  return std::ranges::find(kHarmless, key) != std::end(kHarmless);
}

bool is_harmless_tensor(std::string_view name) {
  return name.ends_with(".rotary_emb.inv_freq") || name.ends_with(".attn.bias") ||
         name.ends_with(".attn.masked_bias") || name.ends_with("position_ids");
}

}  // namespace ingot
