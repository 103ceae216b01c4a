// Ten training steps equal to PyTorch's (tools/goldens/make_model_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/rig.h"
#include "support/safetensors_file.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

constexpr double kRelative = 1e-5;
constexpr int64_t kSteps = 10, kB = 2, kT = 12;

ModelConfig plain_model() {
  ModelConfig c;
  c.dim = 16, c.layers = 2, c.heads = 4, c.kv_heads = 2, c.head_dim = 4, c.ffn = 24, c.vocab = 32;
  c.context = kT;
  return c;
}

ModelConfig model_with_everything() {
  ModelConfig c = plain_model();
  c.tied = true, c.qk_norm = true, c.window = 5, c.softcap = 4.0;
  c.activation = Activation::ReluSquared;
  c.rope.style = RopeStyle::Interleaved;
  c.rope.scaling = RopeScaling::Llama3;
  c.rope.original_context = 16;
  return c;
}

double relative_error(const std::vector<double>& got, const std::vector<float>& want) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    norm += double{want[i]} * want[i];
  }
  return std::sqrt(difference / norm);
}

struct GoldenCase {
  std::string name;
  ActivationPolicy policy;
};

class Golden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, TenStepsEqualPyTorchInLossAndEveryGradient) {
  const bool everything = GetParam().name == "everything";
  const SafetensorsFile golden(testing_support::source_path("tests/golden/model/") +
                               GetParam().name + ".safetensors");
  RigOptions options;
  options.model = everything ? model_with_everything() : plain_model();
  options.policy = GetParam().policy;
  options.document_mask = everything;
  options.z_loss = everything ? 1e-2 : 0.0;
  options.optim.lr = 2e-3, options.optim.weight_decay = 0.1, options.optim.clip = 1.0;
  const auto world = single_world();
  Rig rig(options, *world);
  rig.set_weights([&](const std::string& name) { return golden.values<float>("init:" + name); });

  const auto tokens = golden.values<int32_t>("tokens"), targets = golden.values<int32_t>("targets");
  const auto starts = golden.values<int32_t>("document_start");
  const auto losses = golden.values<double>("losses"), norms = golden.values<double>("norms");
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t at = step * kB * kT;
    const MicroBatch batch{tokens.data() + at, targets.data() + at, starts.data() + at};
    const auto counted = kB * kT - std::count(batch.targets, batch.targets + kB * kT, kNoTarget);
    rig.store().start_step();
    rig.model().train_micro_step(batch, 1.0 / static_cast<double>(counted), /*last=*/true);
    rig.store().finish_gradients();
    const double loss = rig.model().take_loss() / static_cast<double>(counted);
    EXPECT_NEAR(loss / losses[static_cast<size_t>(step)], 1.0, kRelative) << "step " << step;
    for (const TensorSpec& row : rig.parameters().rows()) {
      const auto want = golden.values<float>("grad:" + std::to_string(step) + ":" + row.name);
      EXPECT_LT(relative_error(rig.gradient(row.name), want), kRelative)
          << "step " << step << " " << row.name;
    }
    const UpdateReport report = rig.update(options.optim.lr, step + 1);
    EXPECT_NEAR(report.grad_norm / norms[static_cast<size_t>(step)], 1.0, kRelative);
  }
}

std::string case_name(const ::testing::TestParamInfo<GoldenCase>& info) {
  constexpr std::array kPolicies = {"None", "Selective", "Full"};
  return info.param.name + kPolicies[static_cast<size_t>(info.param.policy)];
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden,
                         ::testing::Values(GoldenCase{"plain", ActivationPolicy::None},
                                           GoldenCase{"plain", ActivationPolicy::Full},
                                           GoldenCase{"everything", ActivationPolicy::None},
                                           GoldenCase{"everything", ActivationPolicy::Selective},
                                           GoldenCase{"everything", ActivationPolicy::Full}),
                         case_name);

}  // namespace
}  // namespace ingot::test
