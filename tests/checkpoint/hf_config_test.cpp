#include "checkpoint/exchange/hf/config.h"

#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint/hf_fixture.h"
#include "core/error/error.h"

namespace ingot::checkpoint_test {
namespace {

ModelConfig model_of(const Json& config) {
  return parse_hf_config(config.dump(), "config.json").model;
}

Json with(const std::string& key, const Json& value) {
  Json config = llama_config();
  config[key] = value;
  return config;
}

// A Llama's members under another name.
Json as(const std::string& architecture, Json config = llama_config()) {
  config["architectures"] = {architecture};
  config["model_type"] = find_architecture(architecture)->model_type;
  return config;
}

Json without(const std::string& key) {
  Json config = llama_config();
  config.erase(key);
  return config;
}

std::string refusal(const Json& config) {
  return error_of([&] { model_of(config); });
}

TEST(HfConfig, TheFieldsOfALlamaAreOurs) {
  const ModelConfig model = model_of(llama_config());
  EXPECT_EQ(model.dim, 8);
  EXPECT_EQ(model.ffn, 12);
  EXPECT_EQ(model.layers, 2);
  EXPECT_EQ(model.heads, 2);
  EXPECT_EQ(model.kv_heads, 1);
  EXPECT_EQ(model.head_dim, 4);
  EXPECT_EQ(model.vocab, 300);
  EXPECT_EQ(model.context, 32);
  EXPECT_EQ(model.norm_eps, 1e-5);
  EXPECT_EQ(model.rope.theta, 10000.0);
  EXPECT_EQ(model.rope.style, RopeStyle::HalfSplit);
  EXPECT_FALSE(model.tied);
}

TEST(HfConfig, MissingAndNullFieldsAreWhatTransformersTakes) {
  EXPECT_EQ(model_of(without("num_key_value_heads")).kv_heads, 2);
  EXPECT_EQ(model_of(with("num_key_value_heads", nullptr)).kv_heads, 2);
  EXPECT_EQ(model_of(with("head_dim", nullptr)).head_dim, 4);
  EXPECT_EQ(model_of(with("head_dim", 4)).head_dim, 4);
  EXPECT_EQ(model_of(without("rms_norm_eps")).norm_eps, 1e-6);
  EXPECT_EQ(model_of(without("rope_theta")).rope.theta, 10000.0);
  EXPECT_TRUE(model_of(with("tie_word_embeddings", true)).tied);
  EXPECT_EQ(model_of(with("rope_theta", 500000)).rope.theta, 500000.0);
}

TEST(HfConfig, BothSpellingsOfRopeMeanTheSame) {
  const Json scaling = {{"factor", 8.0},
                        {"low_freq_factor", 1.0},
                        {"high_freq_factor", 4.0},
                        {"original_max_position_embeddings", 16}};
  Json old = with("rope_scaling", scaling), older = old, current = without("rope_theta");
  old["rope_scaling"]["rope_type"] = "llama3";
  older["rope_scaling"]["type"] = "llama3";
  current["rope_parameters"] = scaling;
  current["rope_parameters"]["rope_type"] = "llama3";
  current["rope_parameters"]["rope_theta"] = 10000.0;
  const ModelConfig model = model_of(old);
  EXPECT_EQ(model.rope.scaling, RopeScaling::Llama3);
  EXPECT_EQ(model.rope.factor, 8.0);
  EXPECT_EQ(model.rope.original_context, 16);
  EXPECT_EQ(model, model_of(older));
  EXPECT_EQ(model, model_of(current));
}

TEST(HfConfig, DynamicScalingBeginsBeyondMaxPositionEmbeddings) {
  Json config = with("rope_scaling", {{"rope_type", "dynamic"}, {"factor", 2.5}});
  const ModelConfig model = model_of(config);
  EXPECT_EQ(model.rope.original_context, 32);
  EXPECT_EQ(model.context, 80);
  // Our context is a limit only: what is written is where scaling begins.
  ModelConfig shorter = model;
  shorter.context = 40;
  const auto written = hf_config_of(shorter, architecture_of(shorter, "LlamaForCausalLM"));
  EXPECT_EQ(written.at("max_position_embeddings"), 32);
  EXPECT_EQ(model_of(Json(written)), model);
  // Other readers do not look at it.
  config["rope_scaling"]["original_max_position_embeddings"] = 16;
  EXPECT_TRUE(contains(refusal(config), "original_max_position_embeddings"));
}

TEST(HfConfig, AWindowCountsWhereTheArchitectureSaysSo) {
  Json mistral = as("MistralForCausalLM", with("sliding_window", 4));
  EXPECT_EQ(model_of(mistral).window, 4);
  mistral["sliding_window"] = nullptr;
  EXPECT_EQ(model_of(mistral).window, 0);
  mistral.erase("sliding_window");
  EXPECT_EQ(model_of(mistral).window, 4096);
  mistral["sliding_window"] = 0;  // nothing is seen there, not everything
  EXPECT_TRUE(contains(refusal(mistral), "sliding_window"));

  Json qwen = as("Qwen3ForCausalLM", with("sliding_window", 4));
  qwen["head_dim"] = 4;
  EXPECT_EQ(model_of(qwen).window, 0);
  qwen["use_sliding_window"] = true;
  EXPECT_EQ(model_of(qwen).window, 0);  // max_window_layers is beyond the layers
  qwen["max_window_layers"] = 0;
  EXPECT_EQ(model_of(qwen).window, 4);
  qwen["layer_types"] = {"full_attention", "full_attention"};
  EXPECT_EQ(model_of(qwen).window, 0);
  qwen["layer_types"] = {"full_attention"};
  EXPECT_TRUE(contains(refusal(qwen), "layer_types"));
  qwen["layer_types"] = {"full_attention", "chunked_attention"};
  EXPECT_TRUE(contains(refusal(qwen), "chunked_attention"));
}

TEST(HfConfig, WhatIsNotComputedIsRefusedByName) {
  EXPECT_TRUE(contains(refusal(with("hidden_act", "relu")), "hidden_act"));
  EXPECT_TRUE(contains(refusal(with("new_trick", 3)), "new_trick"));
  EXPECT_TRUE(
      contains(refusal(with("quantization_config", Json::object())), "quantization_config"));
  EXPECT_TRUE(contains(refusal(with("rope_interleaved", true)), "rope_interleaved"));
  EXPECT_TRUE(contains(refusal(with("rope_scaling", {{"rope_type", "longrope"}})), "longrope"));
  EXPECT_TRUE(
      contains(refusal(with("rope_scaling", {{"rope_type", "default"}, {"x", 1}})), "\"x\""));
  EXPECT_TRUE(contains(refusal(with("architectures", {"MambaForCausalLM"})), "MambaForCausalLM"));
  EXPECT_TRUE(contains(refusal(with("architectures", {"MambaForCausalLM"})), "LlamaForCausalLM"));
}

TEST(HfConfig, TheTypeIsTheArchitectures) {
  Json config = with("model_type", "mistral");  // that is what transformers would compute
  EXPECT_TRUE(contains(refusal(config), "model_type"));
  EXPECT_TRUE(contains(refusal(config), "LlamaForCausalLM"));
  config.erase("architectures");
  EXPECT_EQ(model_of(config).window, 4096);
  EXPECT_EQ(model_of(without("model_type")), model_of(llama_config()));
}

TEST(HfConfig, NullIsNoWhereAFlagIsAskedFor) {
  Json yarn = {{"rope_type", "yarn"}, {"factor", 2.0}, {"truncate", true}};
  EXPECT_EQ(refusal(with("rope_scaling", yarn)), "");
  yarn["truncate"] = nullptr;
  EXPECT_TRUE(contains(refusal(with("rope_scaling", yarn)), "truncate"));
  Json gemma = as("Gemma2ForCausalLM", without("hidden_act"));
  gemma["tie_word_embeddings"] = nullptr;
  EXPECT_FALSE(model_of(gemma).tied);
}

TEST(HfConfig, ZeroIsNotNull) {
  Json gemma = as("Gemma2ForCausalLM", without("hidden_act"));
  gemma["attn_logit_softcapping"] = 0.0;
  EXPECT_TRUE(contains(refusal(gemma), "attn_logit_softcapping"));
  gemma["attn_logit_softcapping"] = nullptr;
  EXPECT_EQ(model_of(gemma).attn_softcap, 0.0);
  Json yarn = {{"rope_type", "yarn"}, {"factor", 2.0}, {"attention_factor", 0}};
  EXPECT_TRUE(contains(refusal(with("rope_scaling", yarn)), "attention_factor"));
}

TEST(HfConfig, TwoMscalesAreAnAttentionFactor) {
  Json yarn = {{"rope_type", "yarn"}, {"factor", 40.0}, {"mscale", 0.7}};
  const auto factor = [&] { return model_of(with("rope_scaling", yarn)).rope.attention_factor; };
  EXPECT_EQ(factor(), 0.0);  // one alone does not count
  yarn["mscale_all_dim"] = 1.2;
  EXPECT_NEAR(factor(), (0.07 * std::log(40.0) + 1) / (0.12 * std::log(40.0) + 1), 1e-15);
  yarn["mscale_all_dim"] = nullptr;
  EXPECT_EQ(factor(), 0.0);
  yarn["mscale_all_dim"] = 0.7;
  EXPECT_EQ(factor(), 1.0);
  yarn["attention_factor"] = 1.5;
  EXPECT_EQ(factor(), 1.5);
  yarn["mscale"] = "much";
  EXPECT_TRUE(contains(refusal(with("rope_scaling", yarn)), "mscale"));
  yarn["rope_type"] = "linear";
  EXPECT_FALSE(refusal(with("rope_scaling", yarn)).empty());
}

TEST(HfConfig, AllPairsOfAHeadAreTurned) {
  EXPECT_EQ(model_of(with("partial_rotary_factor", 1.0)), model_of(llama_config()));
  EXPECT_TRUE(contains(refusal(with("partial_rotary_factor", 0.5)), "partial_rotary_factor"));
}

TEST(HfConfig, ActivationsHaveSeveralNames) {
  for (const char* name : {"gelu_pytorch_tanh", "gelu_new", "gelu_fast", "gelu_accurate"})
    EXPECT_EQ(model_of(with("hidden_act", name)).activation, Activation::GeGlu) << name;
  EXPECT_EQ(model_of(with("hidden_act", "swish")).activation, Activation::SwiGlu);
  EXPECT_TRUE(contains(refusal(with("hidden_act", "gelu")), "hidden_act"));  // not by tanh
  Json gemma = as("Gemma2ForCausalLM", without("hidden_act"));
  gemma["hidden_activation"] = "silu";
  EXPECT_EQ(model_of(gemma).activation, Activation::SwiGlu);
  const Json gpt2 = {{"architectures", {"GPT2LMHeadModel"}}, {"activation_function", "relu2"}};
  EXPECT_EQ(model_of(gpt2).activation, Activation::ReluSquared);
  const ModelConfig geglu = model_of(with("hidden_act", "gelu_fast"));
  const auto written = hf_config_of(geglu, architecture_of(geglu, ""));
  EXPECT_EQ(written.at("hidden_act"), "gelu_pytorch_tanh");
}

TEST(HfConfig, UnscaledAttentionIsAScaleOfOne) {
  Json gpt2 = {{"architectures", {"GPT2LMHeadModel"}}, {"scale_attn_weights", false}};
  const ModelConfig model = model_of(gpt2);
  EXPECT_EQ(model.attn_scale, 1.0);
  EXPECT_EQ(hf_config_of(model, architecture_of(model, "")).at("scale_attn_weights"), false);
  gpt2["scale_attn_weights"] = true;
  EXPECT_EQ(model_of(gpt2).attn_scale, 0.0);
}

TEST(HfConfig, AWrongFieldIsNamed) {
  EXPECT_TRUE(contains(refusal(without("hidden_size")), "hidden_size"));
  EXPECT_TRUE(contains(refusal(with("hidden_size", "many")), "hidden_size"));
  EXPECT_TRUE(contains(refusal(with("hidden_size", 1.5)), "hidden_size"));
  EXPECT_TRUE(contains(refusal(with("hidden_size", -8)), "hidden_size"));
  EXPECT_TRUE(contains(refusal(with("rope_scaling", 3)), "rope_scaling"));
  EXPECT_TRUE(contains(error_of([] { parse_hf_config("[]", "x/config.json"); }), "x/config.json"));
  EXPECT_TRUE(contains(error_of([] { parse_hf_config("{", "x/config.json"); }), "not JSON"));
}

TEST(HfConfig, HarmlessFieldsChangeNothing) {
  Json config = llama_config();
  for (const char* key : {"use_cache", "attention_dropout", "_name_or_path", "pretraining_tp"})
    config[key] = 1;
  EXPECT_EQ(model_of(config), model_of(llama_config()));
  const Json yarn = {{"rope_type", "yarn"}, {"factor", 2.0}};
  Json finetuned = yarn;
  finetuned["finetuned"] = true;  // as Yarn-Llama-2 has it
  EXPECT_EQ(model_of(with("rope_scaling", finetuned)), model_of(with("rope_scaling", yarn)));
}

TEST(HfConfig, AnArchitectureIsFoundByWhatTheModelHas) {
  ModelConfig model = model_of(llama_config());
  EXPECT_EQ(architecture_of(model, "").name, "LlamaForCausalLM");
  model.window = 16;
  EXPECT_EQ(architecture_of(model, "").name, "MistralForCausalLM");
  EXPECT_EQ(architecture_of(model, "LlamaForCausalLM").name, "MistralForCausalLM");
  model.window = 0;
  EXPECT_EQ(architecture_of(model, "MistralForCausalLM").name, "MistralForCausalLM");
  model.qk_norm = true;
  EXPECT_EQ(architecture_of(model, "").name, "Qwen3ForCausalLM");
  model.activation = Activation::ReluSquared;
  EXPECT_TRUE(contains(error_of([&] { architecture_of(model, ""); }), "activation"));
}

TEST(HfConfig, WindowsAreWrittenForReadersOfAllAges) {
  Json gemma = as("Gemma2ForCausalLM", without("hidden_act"));
  gemma["layer_types"] = {"full_attention", "full_attention"};
  ModelConfig model = model_of(gemma);
  auto written = hf_config_of(model, architecture_of(model, "Gemma2ForCausalLM"));
  EXPECT_TRUE(written.at("sliding_window").is_number());  // transformers fails on null
  EXPECT_EQ(model_of(Json(written)), model);

  Json qwen = as("Qwen2ForCausalLM", with("use_sliding_window", true));
  qwen["sliding_window"] = 8;
  qwen["max_window_layers"] = 1;
  model = model_of(qwen);
  written = hf_config_of(model, architecture_of(model, "Qwen2ForCausalLM"));
  EXPECT_EQ(written.at("max_window_layers"), 1);
  written.erase("layer_types");
  EXPECT_EQ(model_of(Json(written)), model);
}

TEST(HfConfig, AWidthThatHeadsDoNotDivideIsNoLlama) {
  ModelConfig model = model_of(with("head_dim", 4));
  model.dim = 9;
  EXPECT_EQ(architecture_of(model, "LlamaForCausalLM").name, "MistralForCausalLM");
  model.mlp_bias = true;
  EXPECT_TRUE(contains(error_of([&] { architecture_of(model, ""); }), "model."));
}

TEST(HfConfig, WhatIsWrittenReadsBackTheSame) {
  ModelConfig model = model_of(llama_config());
  model.tied = true;
  model.rope.theta = 1e6;
  model.rope.scaling = RopeScaling::Llama3;
  model.rope.factor = 4.0;
  model.norm_eps = 1e-6;
  const Architecture& architecture = architecture_of(model, "");
  const std::string text = hf_config_of(model, architecture).dump();
  EXPECT_EQ(parse_hf_config(text, "config.json").model, model);
}

}  // namespace
}  // namespace ingot::checkpoint_test
