// Models of each family equal to Hugging Face transformers' (tools/goldens/make_family_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "model/decoder.h"
#include "model/rig.h"
#include "spec/run/run_config.h"
#include "support/safetensors_file.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

constexpr double kLogits = 1e-5;     // of the largest logit
constexpr double kGradients = 1e-4;  // of a gradient's length, and of the loss
constexpr int64_t kB = 2, kT = 24;

std::string golden_dir() {
  return testing_support::source_path("tests/golden/families/");
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(golden_dir()))
    names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}

struct Golden {
  explicit Golden(const std::string& name)
      : file(golden_dir() + name + ".safetensors"),
        model(parse_run_config(file.metadata("model"), name, {}).model) {
    validate(model);
  }
  std::vector<float> weight(const std::string& name) const {
    return file.values<float>("weight:" + name);
  }

  SafetensorsFile file;
  ModelConfig model;
};

class FamilyGolden : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Cases, FamilyGolden, ::testing::ValuesIn(golden_names()),
                         [](const auto& one) { return one.param; });

double relative_error(const std::vector<double>& got, const std::vector<float>& want) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    norm += double{want[i]} * want[i];
  }
  return std::sqrt(difference / norm);
}

TEST_P(FamilyGolden, LossAndEveryGradientEqualTransformers) {
  const Golden golden(GetParam());
  const auto tokens = golden.file.values<int32_t>("tokens");
  const auto targets = golden.file.values<int32_t>("targets");
  for (const ActivationPolicy policy :
       {ActivationPolicy::None, ActivationPolicy::Selective, ActivationPolicy::Full}) {
    RigOptions options;
    options.model = golden.model;
    options.policy = policy;
    options.B = kB, options.T = kT;
    const auto world = single_world();
    Rig rig(options, *world);
    rig.set_weights([&](const std::string& name) { return golden.weight(name); });
    rig.store().start_step();
    rig.model().train_micro_step({tokens.data(), targets.data(), nullptr}, 1.0 / (kB * kT),
                                 /*last=*/true);
    rig.store().finish_gradients();
    const double loss = rig.model().take_loss() / (kB * kT);
    EXPECT_NEAR(loss / golden.file.values<double>("loss")[0], 1.0, kGradients);
    for (const TensorSpec& row : rig.parameters().rows())
      EXPECT_LT(
          relative_error(rig.gradient(row.name), golden.file.values<float>("grad:" + row.name)),
          kGradients)
          << row.name;
  }
}

// Prompts in chunks and then one token at a time, through the cache. Dynamic scaling turns each
// token by how long the sequence is when it comes, so there only a whole sequence compares.
TEST_P(FamilyGolden, LogitsEqualTransformers) {
  const Golden golden(GetParam());
  const auto tokens = golden.file.values<int32_t>("tokens");
  const auto want = golden.file.values<float>("logits");  // (B, T, V)
  const double largest =
      std::abs(*std::ranges::max_element(want, {}, [](float logit) { return std::abs(logit); }));
  const size_t prompt = golden.model.rope.scaling == RopeScaling::Dynamic ? kT : 7;
  constexpr int64_t kChunk = 4;
  ThreadPool pool(2);
  Context ctx;
  ctx.pool = &pool;
  const PlacedTensors placed(transformer_infer_table(golden.model, DType::F32, kT, kChunk,
                                                     infer_workspace_bytes(ctx.facts, golden.model,
                                                                           DType::F32, kT, kChunk)),
                             Device::cpu());
  const TensorTable parameters = transformer_parameters(golden.model);
  for (const TensorSpec& row : parameters.rows()) {
    const std::vector<float> values = golden.weight(row.name);
    ASSERT_EQ(std::ssize(values), row.shape.numel()) << row.name;
    std::ranges::copy(values, placed.find(row.name).as<float>());
  }
  ctx.workspace = Workspace(placed.find("workspace"));
  Decoder decoder(ctx, golden.model, kT, kChunk, placed);
  for (int64_t b = 0; b < kB; ++b) {
    const auto sequence = std::span(tokens).subspan(static_cast<size_t>(b * kT), kT);
    decoder.reset();
    double error = 0;
    for (size_t t = prompt; t <= kT; ++t) {
      const auto logits =
          decoder.append(t == prompt ? sequence.first(t) : sequence.subspan(t - 1, 1));
      const float* row = want.data() + (b * kT + static_cast<int64_t>(t) - 1) * golden.model.vocab;
      for (size_t v = 0; v < logits.size(); ++v)
        error = std::max(error, double{std::abs(logits[v] - row[v])});
    }
    EXPECT_LT(error / largest, kLogits);
  }
}

}  // namespace
}  // namespace ingot::test
