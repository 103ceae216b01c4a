// What holds for the Llama holds for every family.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "model/decode_rig.h"
#include "model/families.h"
#include "model/run_steps.h"
#include "spec/model/model_settings.h"

namespace ingot::test {
namespace {

class Families : public ::testing::TestWithParam<Family> {
 protected:
  RigOptions options() const {
    RigOptions o;
    o.model = GetParam().model;
    o.T = 16;
    o.loss_chunk = 16;
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(Model, Families, ::testing::ValuesIn(families()),
                         [](const auto& one) { return one.param.name; });

constexpr StepsOptions kRun{.rows = 4, .steps = 3, .evaluates = true};

TEST_P(Families, ActivationPoliciesGiveEqualGradientsBitForBit) {
  for (const bool fp8 : {false, true})
    for (const DType compute : {DType::F32, DType::BF16}) {
      if (fp8 && compute == DType::F32) continue;
      RigOptions o = options();
      o.compute = compute;
      o.fp8 = fp8;
      o.document_mask = !fp8;
      const Trace kept = run_steps(o, kRun);
      for (const ActivationPolicy policy : {ActivationPolicy::Selective, ActivationPolicy::Full})
        for (const int64_t offload : {0, 2}) {
          o.policy = policy;
          o.offload_layers = offload;
          EXPECT_EQ(run_steps(o, kRun), kept) << "fp8 " << fp8 << ", offloaded " << offload;
        }
    }
}

TEST_P(Families, NobodyReadsARowThatIsNotAlive) {
  for (const bool fp8 : {false, true})
    for (const ActivationPolicy policy :
         {ActivationPolicy::None, ActivationPolicy::Selective, ActivationPolicy::Full}) {
      RigOptions o = options();
      o.compute = DType::BF16;
      o.fp8 = fp8;
      o.policy = policy;
      o.one_micro_step = true;
      const StepsOptions run{.rows = 2, .steps = 2, .evaluates = true};
      const Trace clean = run_steps(o, run);
      o.poison = true;
      EXPECT_EQ(run_steps(o, run), clean);
    }
}

TEST_P(Families, RanksGiveOneRanksLosses) {
  RigOptions o = options();
  o.B = 1;
  o.threads = 1;
  o.document_mask = true;
  const StepsOptions run{.rows = 4, .steps = 4};
  const Trace one = run_steps(o, run);
  for (const DataParallel mode :
       {DataParallel::Replicated, DataParallel::Zero2, DataParallel::FullySharded}) {
    o.layout = data_layout(2, mode);
    const Trace many = run_steps(o, run);
    ASSERT_EQ(many.losses.size(), one.losses.size());
    for (size_t i = 0; i < one.losses.size(); ++i)
      EXPECT_NEAR(many.losses[i] / one.losses[i], 1.0, 1e-6) << "step " << i;
  }
}

TEST_P(Families, NarrowLossesFollowWideOnes) {
  RigOptions o = options();
  const StepsOptions run{.rows = 4, .steps = 10, .lr = 1e-3};
  const Trace wide = run_steps(o, run);
  o.compute = DType::BF16;
  for (const bool fp8 : {false, true}) {
    o.fp8 = o.fp8_head = fp8;
    const Trace narrow = run_steps(o, run);
    for (size_t i = 0; i < wide.losses.size(); ++i)
      EXPECT_NEAR(narrow.losses[i] / wide.losses[i], 1.0, fp8 ? 3e-2 : 1e-2) << "step " << i;
    EXPECT_NE(narrow.losses, wide.losses);
  }
}

TEST_P(Families, ThreadCountDoesNotChangeGradients) {
  RigOptions o = options();
  o.threads = 1;
  const Trace one = run_steps(o, {.rows = 2, .steps = 2});
  o.threads = 3;
  EXPECT_EQ(run_steps(o, {.rows = 2, .steps = 2}), one);
}

// Logits after each token.
std::vector<float> logits_of(const ModelConfig& model, const std::vector<int32_t>& tokens) {
  const auto T = std::ssize(tokens);
  return DecodeRig(model, {.context = T, .threads = 1}).append(tokens, 0, T);
}

// A model in which the setting matters, and another value of it.
struct Change {
  std::string setting, value;
  Overrides base = {};
};

const std::vector<Change>& changes() {
  // Waves of pairs are 6, 63, 628 and 6,283 tokens long.
  const auto rope = [](const char* scaling, const char* original_context = "100") {
    return Overrides{{"model.rope.scaling", scaling},
                     {"model.rope.original_context", original_context}};
  };
  static const std::vector<Change> all = {
      {"model.dim", "48"},
      {"model.layers", "3"},
      {"model.heads", "2"},
      {"model.kv_heads", "4"},
      {"model.head_dim", "16"},
      {"model.ffn", "32"},
      {"model.vocab", "71"},
      {"model.positions", "learned"},
      {"model.embedding_scale", "2"},
      {"model.tied", "true"},
      {"model.activation", "geglu"},
      {"model.norm", "layer"},
      {"model.norm_place", "after"},
      {"model.norm_eps", "0.1"},
      {"model.qk_norm", "true"},
      {"model.qk_norm_span", "projection", {{"model.qk_norm", "true"}}},
      {"model.qkv_bias", "true"},
      {"model.out_bias", "true"},
      {"model.mlp_bias", "true"},
      {"model.window", "3"},
      {"model.window_layers", "wf", {{"model.window", "3"}}},
      {"model.attn_scale", "0.2"},
      {"model.attn_softcap", "0.5"},
      {"model.softcap", "1"},
      {"model.rope.theta", "500"},
      {"model.rope.style", "interleaved"},
      {"model.rope.scaling", "dynamic", {{"model.rope.original_context", "4"}}},
      {"model.rope.factor", "2", rope("linear")},
      {"model.rope.low_freq_factor", "0.5", rope("llama3")},
      {"model.rope.high_freq_factor", "2", rope("llama3")},
      {"model.rope.beta_slow", "0.1", rope("yarn")},
      {"model.rope.beta_fast", "1.5", rope("yarn")},
      {"model.rope.attention_factor", "1.1", rope("yarn")},
      {"model.rope.original_context", "6", rope("dynamic", "4")},
  };
  return all;
}

TEST(ModelFields, EachChangesTheLogits) {
  const auto tokens = random_tokens(12, 64, 3);
  for (const Change& change : changes()) {
    const auto logits = [&](const Overrides& more) {
      Overrides overrides = {{"preset", "llama_test"}, {"model.vocab", "64"}};
      overrides.insert(overrides.end(), change.base.begin(), change.base.end());
      overrides.insert(overrides.end(), more.begin(), more.end());
      const ModelConfig model = parse_run_config("", "", overrides).model;
      validate(model);
      return logits_of(model, tokens);
    };
    EXPECT_NE(logits({{change.setting, change.value}}), logits({})) << change.setting;
  }
}

// A field that is added has to be added to changes(), or to those that have no part in logits.
TEST(ModelFields, AllAreTried) {
  std::set<std::string> tried = {"model.context",    // how long sequences may be
                                 "model.init_std"};  // weights before training
  for (const Change& change : changes()) tried.insert(change.setting);
  ModelConfig model;
  for (const Setting& setting : model_settings(model))
    EXPECT_TRUE(tried.contains(setting.name)) << setting.name;
}

}  // namespace
}  // namespace ingot::test
