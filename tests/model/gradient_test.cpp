// The gradient of the whole loss against differences of the loss itself, which F64 can tell apart.
#include <gtest/gtest.h>

#include <cmath>

#include "core/random/random.h"
#include "model/families.h"
#include "model/rig.h"

namespace ingot::test {
namespace {

struct GradientCase {
  std::string name;
  RigOptions options;

  // Smaller where the loss has corners in its second derivative, which a step may cross.
  double step() const { return options.model.activation == Activation::ReluSquared ? 3e-5 : 5e-4; }
};

RigOptions plain() {
  RigOptions options;
  options.model = model_preset("llama_test");
  options.model.vocab = 61;
  options.T = 8;
  options.compute = DType::F64;
  return options;
}

std::vector<GradientCase> cases() {
  std::vector<GradientCase> all = {{"plain", plain()}};
  const auto add = [&](const char* name, const auto& change) {
    all.push_back({name, plain()});
    change(all.back().options);
  };
  add("tied", [](RigOptions& o) { o.model.tied = true; });
  add("qk_norm", [](RigOptions& o) { o.model.qk_norm = true; });
  add("relu_squared", [](RigOptions& o) { o.model.activation = Activation::ReluSquared; });
  add("interleaved", [](RigOptions& o) { o.model.rope.style = RopeStyle::Interleaved; });
  add("softcap_and_z_loss", [](RigOptions& o) {
    o.model.softcap = 0.5;  // logits of a fresh model are small
    o.z_loss = 1e-2;
  });
  add("documents_and_window", [](RigOptions& o) {
    o.document_mask = true;
    o.model.window = 3;
  });
  add("everything_rebuilt", [](RigOptions& o) {
    o.policy = ActivationPolicy::Full;
    o.model.tied = o.model.qk_norm = o.document_mask = true;
    o.model.activation = Activation::ReluSquared;
    o.model.softcap = 0.5;
    o.z_loss = 1e-2;
  });
  for (const Family& family : families())
    add(family.name.c_str(), [&](RigOptions& o) {
      o.model = family.model;
      o.document_mask = true;
      o.policy = ActivationPolicy::Selective;
    });
  return all;
}

class WholeGradient : public ::testing::TestWithParam<GradientCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, WholeGradient, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

struct Batch {
  std::vector<int32_t> tokens, targets, document_start;  // (B, T)
};

Batch batch_of(const RigOptions& o) {
  const RandomStream stream(5, Purpose::Test, 0);
  Batch batch;
  for (int64_t i = 0; i < o.B * o.T; ++i) {
    const auto at = static_cast<uint64_t>(i);
    const auto id = [&](uint64_t index) {
      return static_cast<int32_t>(stream.bits(index) % static_cast<uint32_t>(o.model.vocab));
    };
    batch.tokens.push_back(id(2 * at));
    batch.targets.push_back(i % 7 == 5 ? kNoTarget : id(2 * at + 1));
    batch.document_start.push_back(i % o.T < 3 ? 0 : 3);
  }
  return batch;
}

// The step's loss with the weights as they are; gradients are left in the store.
double loss(Rig& rig, const Batch& batch, double scale) {
  rig.store().start_step();
  rig.model().train_micro_step(
      {batch.tokens.data(), batch.targets.data(), batch.document_start.data()}, scale,
      /*last=*/true);
  rig.store().finish_gradients();
  return scale * rig.model().take_loss();
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Of length 1, every element its own number, so that no element's gradient can be wrong unseen.
std::vector<double> direction(int64_t n, uint64_t seed) {
  const RandomStream stream(seed, Purpose::Test, 1);
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(stream.normal(static_cast<uint64_t>(i)));
  const double length = std::sqrt(dot(values, values));
  for (double& value : values) value /= length;
  return values;
}

TEST_P(WholeGradient, OfEveryParameterIsTheLosssDifference) {
  constexpr double kScale = 1.0 / 16.0;
  const double step = GetParam().step();
  const auto world = single_world();
  Rig rig(GetParam().options, *world);
  init_weights(rig.store(), rig.parameters(), 42);
  const Batch batch = batch_of(GetParam().options);
  loss(rig, batch, kScale);
  std::vector<std::vector<double>> gradients;  // by parameter
  for (const ParameterShard& shard : rig.store().shards()) {
    const double* values = shard.gradient.as<double>();
    gradients.emplace_back(values, values + shard.range.size());
  }
  for (size_t p = 0; p < gradients.size(); ++p) {
    const ParameterShard& shard = rig.store().shards()[p];
    const std::vector<double>& gradient = gradients[p];
    const double length = std::sqrt(dot(gradient, gradient));
    ASSERT_GT(length, 1e-4) << rig.parameters()[shard.parameter].name;
    double* weight = shard.weight.as<double>();
    const std::vector<double> before(weight, weight + gradient.size());
    for (const uint64_t seed : {1, 2}) {
      const std::vector<double> along = direction(shard.range.size(), seed);
      const auto at = [&](double steps) {
        for (size_t i = 0; i < before.size(); ++i) weight[i] = before[i] + steps * step * along[i];
        rig.store().publish_weights();
        return loss(rig, batch, kScale);
      };
      // Four points: what is left of the loss's curve is of the fourth power of the step.
      const double difference = (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * step);
      at(0);
      EXPECT_NEAR(difference, dot(gradient, along), 1e-7 * length)
          << rig.parameters()[shard.parameter].name << " along " << seed;
    }
  }
}

TEST_P(WholeGradient, IsComputedInThePredictedBytes) {
  const auto world = single_world();
  const Rig rig(GetParam().options, *world);
  EXPECT_EQ(rig.placed().allocated_bytes(), rig.predicted_bytes());
}

}  // namespace
}  // namespace ingot::test
