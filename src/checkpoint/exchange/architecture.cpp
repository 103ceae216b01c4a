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

// Widths and lengths, as all of them but GPT-2 name them.
Rows shape_rows(bool tied) {
  return {{"hidden_size", "dim"},
          {"num_hidden_layers", "layers"},
          {"num_attention_heads", "heads"},
          {"num_key_value_heads", "kv_heads", {nullptr, "heads"}},
          {"head_dim", "head_dim", {0}},
          {"intermediate_size", "ffn"},
          {"vocab_size", "vocab"},
          {"max_position_embeddings", "context"},
          {"tie_word_embeddings", "tied", {tied}},
          {"rms_norm_eps", "norm_eps", {1e-6}},
          {"initializer_range", "init_std", {0.02}},
          {"hidden_act", "activation", {"silu"}, {{"silu", "swiglu"}}}};
}

std::vector<TensorRow> llama_tensors() {
  return {{"embedding.weight", {"embed_tokens.weight"}},
          {"layers.{}.attn_norm.weight", {"layers.{}.input_layernorm.weight"}},
          {"layers.{}.qkv.weight",
           {"layers.{}.self_attn.q_proj.weight", "layers.{}.self_attn.k_proj.weight",
            "layers.{}.self_attn.v_proj.weight"}},
          {"layers.{}.q_norm.weight", {"layers.{}.self_attn.q_norm.weight"}},
          {"layers.{}.k_norm.weight", {"layers.{}.self_attn.k_norm.weight"}},
          {"layers.{}.out.weight", {"layers.{}.self_attn.o_proj.weight"}},
          {"layers.{}.mlp_norm.weight", {"layers.{}.post_attention_layernorm.weight"}},
          {"layers.{}.up.weight",
           {"layers.{}.mlp.gate_proj.weight", "layers.{}.mlp.up_proj.weight"}},
          {"layers.{}.down.weight", {"layers.{}.mlp.down_proj.weight"}},
          {"final_norm.weight", {"norm.weight"}},
          {"head.weight", {"lm_head.weight"}}};
}

std::vector<Architecture> all_architectures() {
  const Rows no_biases = {only("attention_bias", false), only("mlp_bias", false)};
  return {{.name = "LlamaForCausalLM",
           .model_type = "llama",
           .base = "model.",
           .config = shape_rows(false) + no_biases + Rows{only("rope_interleaved", false)},
           .tensors = llama_tensors(),
           .gguf = "llama"},
          {.name = "MistralForCausalLM",
           .model_type = "mistral",
           .base = "model.",
           .windows = WindowRule::Always,
           .config = shape_rows(false),
           .tensors = llama_tensors(),
           .gguf = "llama"},
          {.name = "Qwen3ForCausalLM",
           .model_type = "qwen3",
           .base = "model.",
           .windows = WindowRule::Switched,
           .config = shape_rows(false) + Rows{only("attention_bias", false)},
           .implied = {{"qk_norm", true}},
           .tensors = llama_tensors(),
           .gguf = "qwen3"}};
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
    "bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id", "sep_token_id",
    "cls_token_id", "mask_token_id", "decoder_start_token_id",
    // training
    "attention_dropout", "attn_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop",
    "hidden_dropout", "embedding_dropout", "residual_dropout", "gradient_checkpointing",
    "problem_type", "finetuning_task", "task_specific_params", "id2label", "label2id",
    "num_labels", "router_aux_loss_coef",
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
    "prefix", "pruned_heads", "tokenizer_class", "tie_encoder_decoder", "cross_attention_hidden_size",
    "is_decoder", "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
    "summary_type", "summary_use_proj", "n_ctx"};

}  // namespace

std::span<const Architecture> architectures() {
  return table();
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
