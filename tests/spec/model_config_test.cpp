#include "spec/model_config.h"

#include <gtest/gtest.h>

#include "spec/error_text.h"
#include "spec/llama_table.h"

namespace ingot {
namespace {

TEST(ModelConfig, PresetsHaveTheirPublishedParameterCounts) {
  // Llama counts are those of the released weights; the others follow from the shapes.
  const std::vector<std::pair<std::string, int64_t>> expected = {
      {"llama_test", 35'040},       {"llama_tiny", 857'472},        {"llama_quickstart", 3'296'000},
      {"llama_10m", 11'014'400},    {"debug_120m", 97'536'768},     {"gpt2_124m", 123'587'328},
      {"llama_500m", 557'774'080},  {"llama_1b", 1'235'814'400},    {"llama_7b", 6'738'415'616},
      {"llama3_8b", 8'030'261'248}, {"llama3_70b", 70'553'706'496},
  };
  ASSERT_EQ(model_preset_names().size(), expected.size());
  for (const auto& [name, count] : expected)
    EXPECT_EQ(parameter_count(model_preset(name)), count) << name;
}

TEST(ModelConfig, PresetsAreValidAndTheirRowsAddUpToTheCount) {
  for (const std::string& name : model_preset_names()) {
    ModelConfig c = model_preset(name);
    EXPECT_NO_THROW(validate(c)) << name;
    for (const bool qk_norm : {false, true}) {
      c.qk_norm = qk_norm;
      int64_t numel = 0;
      const TensorTable parameters = llama_parameters(c);
      for (const TensorSpec& row : parameters.rows()) numel += row.shape.numel();
      EXPECT_EQ(numel, parameter_count(c)) << name;
    }
  }
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
  EXPECT_EQ(text([](auto& c) { c.heads = 7; }),
            "model.heads must divide model.dim: expected a divisor of 256, got 7");
  EXPECT_EQ(
      text([](auto& c) { c.heads = 16; }),
      "model.head_dim must be model.dim / model.heads: expected 16, got 32; leave it out, and it "
      "follows, or --set model.head_dim=0");
  EXPECT_EQ(text([](auto& c) { c.kv_heads = 3; }),
            "model.kv_heads must divide model.heads: expected a divisor of 8, got 3");
  EXPECT_EQ(text([](auto& c) { c.dim = 8 * 31, c.head_dim = 31; }),
            "model.head_dim must be even, since rotary embedding turns pairs: got 31 (dim 248 / "
            "heads 8)");
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
}

TEST(ModelConfig, UnknownPresetNamesTheNearest) {
  EXPECT_EQ(error_text([] { model_preset("llama_10"); }),
            "unknown preset \"llama_10\"; did you mean \"llama_10m\"?");
  EXPECT_NE(error_text([] { model_preset("mamba"); }).find("presets are llama_test, "),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
