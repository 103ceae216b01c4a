// Small models of each family, every feature that families are made of in at least one of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "spec/model/model_config.h"

namespace ingot::test {

struct Family {
  std::string name;
  ModelConfig model;
};

inline std::vector<Family> families() {
  std::vector<Family> all;
  const auto add = [&](std::string name, const auto& change) {
    ModelConfig c = model_preset("llama_test");
    c.vocab = 64;
    change(c);
    all.push_back({std::move(name), c});
  };
  add("llama_biases", [](ModelConfig& c) {
    c.qkv_bias = c.out_bias = c.mlp_bias = true;
    c.rope.scaling = RopeScaling::Yarn;
    c.rope.original_context = 4;
  });
  add("qwen2", [](ModelConfig& c) {
    c.qkv_bias = true;
    c.window = 5;
    c.window_layers = "fw";
    c.rope.scaling = RopeScaling::Dynamic;
    c.rope.original_context = 4;
  });
  add("qwen3", [](ModelConfig& c) {
    c.qk_norm = c.tied = true;
    c.head_dim = 16;  // four of them are wider than the stream
  });
  add("olmo2", [](ModelConfig& c) {
    c.norm_place = NormPlace::After;
    c.qk_norm = true;
    c.qk_norm_span = QkNormSpan::Projection;
    c.rope.scaling = RopeScaling::Linear;
  });
  add("gemma2", [](ModelConfig& c) {
    c.norm_place = NormPlace::Both;
    c.activation = Activation::GeGlu;
    c.embedding_scale = 5.6;
    c.window = 5;
    c.window_layers = "wf";
    c.attn_scale = 0.5;
    c.attn_softcap = 0.25;
    c.softcap = 3.0;
    c.tied = true;
  });
  add("gpt2", [](ModelConfig& c) {
    c.kv_heads = c.heads;
    c.positions = Positions::Learned;
    c.context = 16;
    c.norm = NormKind::Layer;
    c.activation = Activation::Gelu;
    c.qkv_bias = c.out_bias = c.mlp_bias = c.tied = true;
  });
  return all;
}

}  // namespace ingot::test
