// config.json as models were published with it: every member is known, and the model is the one
// whose number of parameters is on its card.
#include <gtest/gtest.h>

#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/hf_fixture.h"
#include "spec/model/model_settings.h"

namespace ingot::checkpoint_test {
namespace {

struct Published {
  std::string name;
  std::string config;
  int64_t parameters = 0;
  std::string settings;  // of [model], as JSON
};

const Published kPublished[] = {
    {"Llama_2_7b", R"({"_name_or_path": "meta-llama/Llama-2-7b-hf",
      "architectures": ["LlamaForCausalLM"], "bos_token_id": 1, "eos_token_id": 2,
      "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
      "intermediate_size": 11008, "max_position_embeddings": 4096, "model_type": "llama",
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32,
      "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
      "tie_word_embeddings": false, "torch_dtype": "float16", "transformers_version": "4.31.0.dev0",
      "use_cache": true, "vocab_size": 32000})",
     6'738'415'616,
     R"({"context": 4096, "norm_eps": 1e-5, "rope.theta": 10000, "rope.scaling": "none"})"},
    {"Llama_3_1_8B", R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009],
      "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
      "intermediate_size": 14336, "max_position_embeddings": 131072, "mlp_bias": false,
      "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 32,
      "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
      "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                       "original_max_position_embeddings": 8192, "rope_type": "llama3"},
      "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "transformers_version": "4.42.3", "use_cache": true, "vocab_size": 128256})",
     8'030'261'248,
     R"({"context": 131072, "rope.theta": 5e5, "rope.scaling": "llama3", "rope.factor": 8,
         "rope.low_freq_factor": 1, "rope.high_freq_factor": 4, "rope.original_context": 8192})"},
    {"Llama_3_2_1B", R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": 128001, "head_dim": 64,
      "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
      "intermediate_size": 8192, "max_position_embeddings": 131072, "mlp_bias": false,
      "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16,
      "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
      "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                       "original_max_position_embeddings": 8192, "rope_type": "llama3"},
      "rope_theta": 500000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
      "transformers_version": "4.45.0.dev0", "use_cache": true, "vocab_size": 128256})",
     1'235'814'400, R"({"tied": true, "head_dim": 64, "rope.factor": 32})"},
    {"Mistral_7B_v0_1", R"({"architectures": ["MistralForCausalLM"], "bos_token_id": 1,
      "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
      "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mistral",
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
      "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 4096,
      "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "transformers_version": "4.34.0.dev0", "use_cache": true, "vocab_size": 32000})",
     7'241'732'096, R"({"window": 4096, "window_layers": "w", "rope.theta": 10000})"},
    {"Mistral_7B_v0_3", R"({"architectures": ["MistralForCausalLM"], "attention_dropout": 0.0,
      "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096,
      "initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 32768,
      "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 32,
      "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0,
      "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "transformers_version": "4.42.0.dev0", "use_cache": true, "vocab_size": 32768})",
     7'248'023'552, R"({"window": 0, "rope.theta": 1e6})"},
    {"Qwen2_5_0_5B", R"({"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0,
      "bos_token_id": 151643, "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 896,
      "initializer_range": 0.02, "intermediate_size": 4864, "max_position_embeddings": 32768,
      "max_window_layers": 24, "model_type": "qwen2", "num_attention_heads": 14,
      "num_hidden_layers": 24, "num_key_value_heads": 2, "rms_norm_eps": 1e-06,
      "rope_theta": 1000000.0, "sliding_window": 32768, "tie_word_embeddings": true,
      "torch_dtype": "bfloat16", "transformers_version": "4.40.1", "use_cache": true,
      "use_mrope": false, "use_sliding_window": false, "vocab_size": 151936})",
     494'032'768, R"({"qkv_bias": true, "out_bias": false, "window": 0, "norm_eps": 1e-6})"},
    {"Qwen3_0_6B", R"({"architectures": ["Qwen3ForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128,
      "hidden_act": "silu", "hidden_size": 1024, "initializer_range": 0.02,
      "intermediate_size": 3072, "max_position_embeddings": 40960, "max_window_layers": 28,
      "model_type": "qwen3", "num_attention_heads": 16, "num_hidden_layers": 28,
      "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null,
      "rope_theta": 1000000, "sliding_window": null, "tie_word_embeddings": true,
      "torch_dtype": "bfloat16", "transformers_version": "4.51.0", "use_cache": true,
      "use_sliding_window": false, "vocab_size": 151936})",
     596'049'920, R"({"qk_norm": true, "qk_norm_span": "head", "head_dim": 128, "tied": true})"},
    {"OLMo_2_0425_1B", R"({"architectures": ["Olmo2ForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "eos_token_id": 100257, "hidden_act": "silu", "hidden_size": 2048,
      "initializer_range": 0.02, "intermediate_size": 8192, "max_position_embeddings": 4096,
      "model_type": "olmo2", "num_attention_heads": 16, "num_hidden_layers": 16,
      "num_key_value_heads": 16, "pad_token_id": 100277, "rms_norm_eps": 1e-06,
      "rope_scaling": null, "rope_theta": 500000, "tie_word_embeddings": false,
      "torch_dtype": "float32", "transformers_version": "4.47.0", "use_cache": true,
      "vocab_size": 100352})",
     1'484'916'736, R"({"norm_place": "after", "qk_norm": true, "qk_norm_span": "projection"})"},
    {"SmolLM2_135M", R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "bos_token_id": 0, "eos_token_id": 0, "hidden_act": "silu",
      "hidden_size": 576, "initializer_range": 0.041666666666666664, "intermediate_size": 1536,
      "is_llama_config": true, "max_position_embeddings": 8192, "model_type": "llama",
      "num_attention_heads": 9, "num_hidden_layers": 30, "num_key_value_heads": 3,
      "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_interleaved": false, "rope_scaling": null,
      "rope_theta": 100000, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
      "transformers_version": "4.40.1", "use_cache": true, "vocab_size": 49152})",
     134'515'008, R"({"tied": true, "kv_heads": 3, "head_dim": 64, "rope.theta": 1e5})"},
    {"SmolLM2_360M_Instruct", R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
      "hidden_size": 960, "initializer_range": 0.02, "intermediate_size": 2560,
      "is_llama_config": true, "max_position_embeddings": 8192, "mlp_bias": false,
      "model_type": "llama", "num_attention_heads": 15, "num_hidden_layers": 32,
      "num_key_value_heads": 5, "pad_token_id": 2, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
      "rope_interleaved": false, "rope_scaling": null, "rope_theta": 100000,
      "tie_word_embeddings": true, "torch_dtype": "bfloat16", "transformers_version": "4.42.3",
      "transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16", "fp16": "float16"}},
      "use_cache": true, "vocab_size": 49152})",
     361'821'120, R"({"tied": true, "kv_heads": 5, "head_dim": 64})"},
    {"gemma_2_2b", R"({"architectures": ["Gemma2ForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "attn_logit_softcapping": 50.0, "bos_token_id": 2,
      "cache_implementation": "hybrid", "eos_token_id": 1, "final_logit_softcapping": 30.0,
      "head_dim": 256, "hidden_act": "gelu_pytorch_tanh",
      "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 2304, "initializer_range": 0.02,
      "intermediate_size": 9216, "max_position_embeddings": 8192, "model_type": "gemma2",
      "num_attention_heads": 8, "num_hidden_layers": 26, "num_key_value_heads": 4,
      "pad_token_id": 0, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06,
      "rope_theta": 10000.0, "sliding_window": 4096, "torch_dtype": "float32",
      "transformers_version": "4.42.4", "use_cache": true, "vocab_size": 256000})",
     2'614'341'888,
     R"({"norm_place": "both", "activation": "geglu", "embedding_scale": 48, "window": 4096,
         "window_layers": "wf", "attn_scale": 0.0625, "attn_softcap": 50, "softcap": 30,
         "tied": true})"},
    {"gemma_2_9b", R"({"architectures": ["Gemma2ForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "attn_logit_softcapping": 50.0, "bos_token_id": 2,
      "cache_implementation": "hybrid", "eos_token_id": 1, "final_logit_softcapping": 30.0,
      "head_dim": 256, "hidden_act": "gelu_pytorch_tanh",
      "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 3584, "initializer_range": 0.02,
      "intermediate_size": 14336, "max_position_embeddings": 8192, "model_type": "gemma2",
      "num_attention_heads": 16, "num_hidden_layers": 42, "num_key_value_heads": 8,
      "pad_token_id": 0, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06,
      "rope_theta": 10000.0, "sliding_window": 4096, "sliding_window_size": 4096,
      "torch_dtype": "float32", "transformers_version": "4.42.0.dev0", "use_cache": true,
      "vocab_size": 256000})",
     9'241'705'984, R"({"window": 4096, "window_layers": "wf"})"},
    {"gpt2", R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
      "attn_pdrop": 0.1, "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256,
      "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024,
      "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1,
      "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
      "summary_type": "cls_index", "summary_use_proj": true,
      "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}},
      "vocab_size": 50257})",
     124'439'808,
     R"({"positions": "learned", "norm": "layer", "activation": "gelu", "ffn": 3072, "tied": true,
         "qkv_bias": true, "out_bias": true, "mlp_bias": true, "context": 1024})"},
    {"TinyLlama_1_1B", R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
      "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 2048,
      "initializer_range": 0.02, "intermediate_size": 5632, "max_position_embeddings": 2048,
      "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 22,
      "num_key_value_heads": 4, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
      "rope_theta": 10000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "transformers_version": "4.35.0", "use_cache": true, "vocab_size": 32000})",
     1'100'048'384, R"({"context": 2048, "kv_heads": 4})"},
    {"Yi_6B", R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
      "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 11008,
      "max_position_embeddings": 4096, "model_type": "llama", "num_attention_heads": 32,
      "num_hidden_layers": 32, "num_key_value_heads": 4, "pad_token_id": 0, "pretraining_tp": 1,
      "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 5000000.0,
      "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.34.0",
      "use_cache": true, "vocab_size": 64000})",
     6'061'035'520, R"({"rope.theta": 5e6})"},
    {"deepseek_coder_1_3b", R"({"architectures": ["LlamaForCausalLM"], "bos_token_id": 32013,
      "eos_token_id": 32014, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
      "intermediate_size": 5504, "max_position_embeddings": 16384, "model_type": "llama",
      "num_attention_heads": 16, "num_hidden_layers": 24, "num_key_value_heads": 16,
      "pretraining_tp": 1, "rms_norm_eps": 1e-06,
      "rope_scaling": {"factor": 4.0, "type": "linear"}, "rope_theta": 100000,
      "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.33.1",
      "use_cache": true, "vocab_size": 32256})",
     1'346'471'936, R"({"rope.scaling": "linear", "rope.factor": 4, "rope.theta": 1e5})"},
};

class PublishedConfig : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedConfig, IsKnownInAllItsMembers) {
  ModelConfig model = parse_hf_config(GetParam().config, "config.json").model;
  EXPECT_EQ(parameter_count(model), GetParam().parameters);
  const Json expected = Json::parse(GetParam().settings);
  std::map<std::string, Json> have;
  for (const Setting& setting : model_settings(model))
    have[setting.name] = std::visit([](const auto& value) { return Json(value); }, setting.get());
  for (const auto& [name, value] : expected.items())
    EXPECT_EQ(have.at("model." + name), value) << name;
  // And it goes out again as what it came as.
  const Architecture& architecture = architecture_of(model, "");
  const std::string written = hf_config_of(model, architecture).dump();
  EXPECT_EQ(parse_hf_config(written, "config.json").model, model);
}

// As transformers 5 writes the same config.json, with all members that it has.
Json newer(const Json& published) {
  Json config = published;
  config["dtype"] = config.value("torch_dtype", "float32");
  config["is_encoder_decoder"] = false;
  config["pad_token_id"] = nullptr;
  config.erase("torch_dtype");
  if (config.contains("n_embd")) {
    config.update(Json::parse(R"({"n_inner": null, "scale_attn_weights": true,
      "scale_attn_by_inverse_layer_idx": false, "add_cross_attention": false})"));
    return config;
  }
  Json rope = config.value("rope_scaling", Json());
  if (!rope.is_object()) rope = {{"rope_type", "default"}};
  rope["rope_theta"] = config.value("rope_theta", 10000.0);
  config["rope_parameters"] = rope;
  config.erase("rope_theta");
  config.erase("rope_scaling");
  if (config["model_type"] == "gemma2") config["use_bidirectional_attention"] = nullptr;
  return config;
}

TEST_P(PublishedConfig, IsTheSameModelInNewerWords) {
  const Json config = newer(Json::parse(GetParam().config));
  EXPECT_EQ(parse_hf_config(config.dump(), "config.json").model,
            parse_hf_config(GetParam().config, "config.json").model);
}

INSTANTIATE_TEST_SUITE_P(HfConfig, PublishedConfig, ::testing::ValuesIn(kPublished),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ingot::checkpoint_test
