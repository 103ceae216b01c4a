// No member of config.json is read and then ignored: of every row of every architecture another
// value is another model, or is refused by name. A new row needs a value here.
#include <gtest/gtest.h>

#include <set>

#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/hf_fixture.h"
#include "core/error/error.h"
#include "spec/model/model_settings.h"

namespace ingot::checkpoint_test {
namespace {

// Another value of each member than base_config() has.
const std::map<std::string, Json>& other_values() {
  static const std::map<std::string, Json> values = {
      {"activation_function", "relu"},
      {"add_cross_attention", true},
      {"attention_bias", true},
      {"attn_logit_softcapping", 7.0},
      {"cache_implementation", "sliding_window"},
      {"final_logit_softcapping", nullptr},
      {"head_dim", 6},
      {"hidden_act", "relu"},
      {"hidden_activation", "silu"},
      {"hidden_size", 48},
      {"initializer_range", 0.5},
      {"intermediate_size", 40},
      {"layer_norm_epsilon", 0.5},
      {"max_position_embeddings", 128},
      {"mlp_bias", true},
      {"n_embd", 48},
      {"n_head", 6},
      {"n_inner", 40},
      {"n_layer", 3},
      {"n_positions", 128},
      {"num_attention_heads", 6},
      {"num_hidden_layers", 3},
      {"num_key_value_heads", 1},
      {"query_pre_attn_scalar", 9},
      {"rms_norm_eps", 0.5},
      {"rope_interleaved", true},
      {"scale_attn_by_inverse_layer_idx", true},
      {"scale_attn_weights", false},
      {"sliding_window_size", 3},
      {"tie_word_embeddings", true},
      {"use_bidirectional_attention", true},
      {"use_mrope", true},
      {"vocab_size", 301},
      // of rotary scaling
      {"attention_factor", 1.5},
      {"beta_fast", 31.0},
      {"beta_slow", 0.5},
      {"factor", 3.0},
      {"high_freq_factor", 5.0},
      {"low_freq_factor", 0.5},
      {"original_max_position_embeddings", 24},
      {"truncate", false},
  };
  return values;
}

ModelConfig model_of(const Json& config) {
  return parse_hf_config(config.dump(), "config.json").model;
}

// A model of the architecture in which every setting of its rows has a word of its own.
Json base_config(const Architecture& architecture, const std::string& scaling = "none") {
  const Json given = {{"architectures", {architecture.name}},
                      {"model_type", architecture.model_type},
                      {"hidden_size", 24},
                      {"num_hidden_layers", 4},
                      {"num_attention_heads", 4},
                      {"num_key_value_heads", 2},
                      {"head_dim", 8},
                      {"intermediate_size", 32},
                      {"vocab_size", 300},
                      {"max_position_embeddings", 64}};
  const Json of_gpt2 = {{"architectures", {architecture.name}},
                        {"n_embd", 24},
                        {"n_layer", 4},
                        {"n_head", 4},
                        {"n_positions", 64},
                        {"tie_word_embeddings", false}};
  ModelConfig model = model_of(architecture.model_type == "gpt2" ? of_gpt2 : given);
  model.tied = false;
  for (const Setting& setting : model_settings(model))
    if (setting.name == "model.rope.scaling") setting.set(scaling);
  Json config = hf_config_of(model, architecture);
  config.erase("layer_types");  // one for each layer: the number of layers would not change alone
  return config;
}

SettingValue value_in(ModelConfig model, const std::string& name) {
  for (const Setting& setting : model_settings(model))
    if (setting.name == "model." + name) return setting.get();
  ADD_FAILURE() << "no setting model." << name;
  return false;
}

// `changed` differs from `base` in a member that `row` is for.
void expect_seen(const Json& base, const Json& changed, const ConfigRow& row) {
  ModelConfig before = model_of(base), after;
  try {
    after = model_of(changed);
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), row.key + ": ")) << error.what();
    return;
  }
  ASSERT_FALSE(row.setting.empty()) << row.key << " may have one value only, another was taken";
  EXPECT_NE(value_in(before, row.setting), value_in(after, row.setting)) << row.key;
}

Json another(const std::string& key) {
  const auto found = other_values().find(key);
  if (found != other_values().end()) return found->second;
  ADD_FAILURE() << "\"" << key << "\" has no value in other_values(): add one";
  return nullptr;
}

class EachArchitecture : public ::testing::TestWithParam<std::string> {
 protected:
  const Architecture& architecture = *find_architecture(GetParam());
  Json with(const std::string& key, const Json& value) const {
    Json config = base_config(architecture);
    config[key] = value;
    return config;
  }
  std::string refusal(const Json& config) const {
    return error_of([&] { model_of(config); });
  }
};

TEST_P(EachArchitecture, EveryMemberIsAnotherModelOrRefusedByName) {
  for (const ConfigRow& row : architecture.config)
    expect_seen(base_config(architecture), with(row.key, another(row.key)), row);
}

TEST_P(EachArchitecture, EveryMemberOfRotaryScalingCounts) {
  if (base_config(architecture).contains("rope_theta")) {
    for (const RopeKind& kind : rope_kinds()) {
      const Json base = base_config(architecture, kind.scaling);
      for (const ConfigRow& row : kind.rows) {
        Json changed = base;
        changed["rope_scaling"][row.key] = another(row.key);
        expect_seen(base, changed, row);
      }
      Json theta = base;
      theta["rope_theta"] = 77.0;
      EXPECT_EQ(model_of(theta).rope.theta, 77.0) << kind.name;
      theta["rope_scaling"]["rope_type"] = kind.name;
      theta["rope_scaling"]["rope_theta"] = 78.0;
      EXPECT_EQ(model_of(theta).rope.theta, 78.0) << kind.name;
      EXPECT_EQ(value_in(model_of(theta), "rope.scaling"), SettingValue(kind.scaling));
      theta["rope_scaling"]["partial_rotary_factor"] = 0.5;
      EXPECT_TRUE(contains(refusal(theta), "partial_rotary_factor"));
    }
  } else {
    EXPECT_TRUE(contains(refusal(with("rope_theta", 77.0)), "rope_theta"));
    EXPECT_TRUE(contains(refusal(with("rope_scaling", {{"factor", 2.0}})), "rope_scaling"));
  }
}

TEST_P(EachArchitecture, WindowsCountOrAreRefusedByName) {
  const auto window_of = [](const Json& config) {
    const ModelConfig model = model_of(config);
    return std::to_string(model.window) + model.window_layers;
  };
  const Json types = {"full_attention", "full_attention", "sliding_attention", "full_attention"};
  Json config = with("sliding_window", 12);
  switch (architecture.windows) {
    case WindowRule::None:
      for (const char* key : {"sliding_window", "use_sliding_window", "layer_types"})
        EXPECT_TRUE(contains(refusal(with(key, 12)), key));
      break;
    case WindowRule::Always:
      EXPECT_EQ(window_of(config), "12w");
      config["layer_types"] = types;
      EXPECT_TRUE(contains(refusal(config), "layer_types"));
      break;
    case WindowRule::Switched:
      EXPECT_EQ(window_of(config), "0w");
      config["use_sliding_window"] = true;
      config["max_window_layers"] = 3;
      EXPECT_EQ(window_of(config), "12fffw");
      config["max_window_layers"] = 1;
      EXPECT_EQ(window_of(config), "12fwww");
      config["sliding_window"] = 13;
      EXPECT_EQ(window_of(config), "13fwww");
      config["layer_types"] = types;
      EXPECT_EQ(window_of(config), "13ffw");
      break;
    case WindowRule::Alternating:
      EXPECT_EQ(window_of(config), "12wf");
      config["layer_types"] = types;
      EXPECT_EQ(window_of(config), "12ffw");
      break;
  }
}

std::vector<std::string> all_architectures() {
  std::vector<std::string> names;
  for (const Architecture& architecture : architectures()) names.push_back(architecture.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(HfConfigRows, EachArchitecture, ::testing::ValuesIn(all_architectures()),
                         [](const auto& test) { return test.param; });

TEST(HfConfigRows, EveryValueHereIsOfARow) {
  std::set<std::string> keys;
  for (const Architecture& architecture : architectures())
    for (const ConfigRow& row : architecture.config) keys.insert(row.key);
  for (const RopeKind& kind : rope_kinds())
    for (const ConfigRow& row : kind.rows) keys.insert(row.key);
  for (const auto& [key, value] : other_values()) EXPECT_TRUE(keys.contains(key)) << key;
}

}  // namespace
}  // namespace ingot::checkpoint_test
