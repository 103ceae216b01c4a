// Models of each family equal to Hugging Face transformers' (tools/goldens/make_family_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "model/decode_rig.h"
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

// Prompts in chunks and then one token at a time, through the cache. Dynamic scaling rotates each
// token by how long the sequence is when it comes, transformers a whole sequence by its length:
// there the decoder is given tables of that length.
TEST_P(FamilyGolden, LogitsEqualTransformers) {
  const Golden golden(GetParam());
  const auto tokens = golden.file.values<int32_t>("tokens");
  const auto want = golden.file.values<float>("logits");  // (B, T, V)
  const int64_t V = golden.model.vocab;
  const double largest =
      std::abs(*std::ranges::max_element(want, {}, [](float logit) { return std::abs(logit); }));
  constexpr int64_t kPrompt = 7, kChunk = 4;
  DecodeRig rig(golden.model, {.context = kT, .max_rows = kChunk},
                [&](const TensorSpec& row) { return golden.weight(row.name); });
  if (golden.model.rope.scaling == RopeScaling::Dynamic) rig.rotate_as_of(kT);
  for (int64_t b = 0; b < kB; ++b) {
    const auto sequence = std::span(tokens).subspan(static_cast<size_t>(b * kT), kT);
    double error = 0;
    for (int64_t t = 0; t < kT;) {
      const int64_t n = t < kPrompt ? std::min(kChunk, kPrompt - t) : 1;
      const auto logits =
          rig.append(sequence.subspan(static_cast<size_t>(t), static_cast<size_t>(n)), t, n);
      const float* rows = want.data() + (b * kT + t) * V;
      for (size_t i = 0; i < logits.size(); ++i)
        error = std::max(error, double{std::abs(logits[i] - rows[i])});
      t += n;
    }
    EXPECT_LT(error / largest, kLogits);
  }
}

}  // namespace
}  // namespace ingot::test
