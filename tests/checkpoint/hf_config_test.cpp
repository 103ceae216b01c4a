#include "checkpoint/exchange/hf_config.h"

#include <gtest/gtest.h>

#include "checkpoint/hf_fixture.h"
#include "core/error.h"

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
  Json mistral = with("sliding_window", 4);
  mistral["architectures"] = {"MistralForCausalLM"};
  EXPECT_EQ(model_of(mistral).window, 4);
  mistral["sliding_window"] = nullptr;
  EXPECT_EQ(model_of(mistral).window, 0);
  mistral.erase("sliding_window");
  EXPECT_EQ(model_of(mistral).window, 4096);

  Json qwen = with("sliding_window", 4);
  qwen["architectures"] = {"Qwen3ForCausalLM"};
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
