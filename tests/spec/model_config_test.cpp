#include "spec/model/model_config.h"

#include <gtest/gtest.h>

#include "spec/error_text.h"
#include "spec/model/transformer_parameters.h"

namespace ingot {
namespace {

TEST(ModelConfig, PresetsHaveTheirPublishedParameterCounts) {
  // Those of families are of the released weights, the others of their shapes.
  const std::vector<std::pair<std::string, int64_t>> expected = {
      {"llama_test", 35'040},
      {"llama_tiny", 857'472},
      {"llama_quickstart", 3'296'000},
      {"llama_10m", 11'014'400},
      {"debug_120m", 97'536'768},
      {"llama_124m", 123'587'328},
      // 124,439,808 as released; 47 rows more in the vocabulary.
      {"gpt2_124m", 124'439'808 + 47 * 768},
      {"smollm2_135m", 134'515'008},
      {"smollm2_360m", 361'821'120},
      {"llama_500m", 557'774'080},
      {"qwen3_0.6b", 596'049'920},
      {"llama_1b", 1'235'814'400},
      {"olmo2_1b", 1'484'916'736},
      {"llama_7b", 6'738'415'616},
      {"mistral_7b", 7'241'732'096},
      {"llama3_8b", 8'030'261'248},
      {"llama3_70b", 70'553'706'496},
      // 175 billion in the paper's words.
      {"gpt3_175b", 174'604'836'864},
  };
  ASSERT_EQ(model_preset_names().size(), expected.size());
  for (const auto& [name, count] : expected)
    EXPECT_EQ(parameter_count(model_preset(name)), count) << name;
}

TEST(ModelConfig, PresetsAreValid) {
  for (const std::string& name : model_preset_names())
    EXPECT_NO_THROW(validate(model_preset(name))) << name;
}

TEST(ModelConfig, DefaultIsTheDefaultPreset) {
  EXPECT_EQ(ModelConfig{}, model_preset("llama_10m"));
}

TEST(ModelConfig, Llama1bHasTheScalingOfLlama32) {
  const ModelConfig c = model_preset("llama_1b");
  EXPECT_EQ(c.rope.scaling, RopeScaling::Llama3);
  EXPECT_EQ(c.rope.theta, 500000.0);
  EXPECT_EQ(c.rope.factor, 32.0);
  EXPECT_EQ(c.kv_heads, 8);
  EXPECT_TRUE(c.tied);
}

TEST(ModelConfig, ImpossibleShapesSayWhatIsExpected) {
  const ModelConfig good = model_preset("llama_10m");
  auto text = [&](auto change) {
    ModelConfig c = good;
    change(c);
    return error_text([&] { validate(c); });
  };
  EXPECT_EQ(error_text([&] {
              ModelConfig c = good;
              c.heads = 7;
              c.head_dim = 0;
              resolve_head_dim(c);
            }),
            "model.heads must divide model.dim: expected a divisor of 256, got 7; or set "
            "model.head_dim");
  EXPECT_EQ(text([](auto& c) { c.window_layers = "ws"; }),
            "model.window_layers: expected letters w (window) and f (full), as w or wwf, got "
            "\"ws\"");
  EXPECT_EQ(text([](auto& c) { c.window_layers.clear(); }),
            "model.window_layers: expected letters w (window) and f (full), as w or wwf, got \"\"");
  EXPECT_EQ(text([](auto& c) { c.kv_heads = 3; }),
            "model.kv_heads must divide model.heads: expected a divisor of 8, got 3");
  EXPECT_EQ(
      text([](auto& c) { c.dim = 8 * 31, c.head_dim = 31; }),
      "model.head_dim must be even, since rotary embedding turns pairs: got 31 (dim 248, heads "
      "8)");
  EXPECT_EQ(text([](auto& c) { c.layers = 0; }),
            "model.layers: expected a whole number from 1 to 1024, got 0");
  EXPECT_EQ(text([](auto& c) { c.heads = 0; }),
            "model.heads: expected a whole number from 1 to 1024, got 0");
  EXPECT_EQ(text([](auto& c) { c.norm_eps = 0; }),
            "model.norm_eps: expected a number above 0, at most 1, got 0.0");
  EXPECT_EQ(text([](auto& c) {
              c.rope.scaling = RopeScaling::Llama3;
              c.rope.high_freq_factor = 0.5;
            }),
            "model.rope.high_freq_factor must be above model.rope.low_freq_factor: expected more "
            "than 1, got 0.5");
  EXPECT_EQ(text([](auto& c) {
              c.rope.scaling = RopeScaling::Yarn;
              c.rope.beta_fast = 0.5;
            }),
            "model.rope.beta_fast must be above model.rope.beta_slow: expected more than 1, got "
            "0.5");
  EXPECT_EQ(text([](auto& c) {
              c.rope.scaling = RopeScaling::Dynamic;
              c.rope.factor = 0.5;
            }),
            "model.rope.factor: yarn and dynamic scaling expected at least 1, got 0.5");
}

TEST(ModelConfig, WindowsRepeatOverTheLayers) {
  ModelConfig c = model_preset("llama_10m");
  c.window = 7;
  EXPECT_EQ(c.window_of(5), 7);
  c.window_layers = "wwf";
  EXPECT_EQ(c.window_of(0), 7);
  EXPECT_EQ(c.window_of(2), 0);
  EXPECT_EQ(c.window_of(4), 7);
  EXPECT_EQ(c.window_of(5), 0);
}

TEST(ModelConfig, UnknownPresetNamesTheNearest) {
  EXPECT_EQ(error_text([] { model_preset("llama_10"); }),
            "unknown preset \"llama_10\"; did you mean \"llama_10m\"?");
  EXPECT_NE(error_text([] { model_preset("mamba"); }).find("presets are llama_test, "),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
