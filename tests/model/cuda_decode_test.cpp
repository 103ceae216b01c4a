// Decoding on a GPU gives the CPU's logits, in chunks, side by side and after a copied page.
#include <cmath>

#include "model/decode_rig.h"
#include "model/families.h"
#include "model/run_steps.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

using CudaDecode = OnGpu<::testing::TestWithParam<Family>>;
INSTANTIATE_TEST_SUITE_P(Model, CudaDecode, ::testing::ValuesIn(families()),
                         [](const auto& one) { return one.param.name; });

constexpr int64_t kT = 40;

ModelConfig longer(ModelConfig model) {
  model.context = std::max(model.context, kT);  // rows of learned positions
  return model;
}

// Logits of two sequences, the second of which shares the first's beginning up to the middle of a
// page: a prompt of 21, then one token at a time, side by side.
std::vector<float> logits_on(Device device, const ModelConfig& model, WeightFormat weights) {
  DecodeRig rig(
      model,
      {.weights = weights, .context = kT, .max_sequences = 2, .max_rows = 32, .device = device});
  const auto a = random_tokens(kT, model.vocab, 1);
  auto b = a;
  const auto other = random_tokens(kT, model.vocab, 2);
  std::copy(other.begin() + 20, other.end(), b.begin() + 20);
  const std::vector<int32_t> pages_a = {4, 1, 5}, pages_b = {4, 0, 3};
  std::vector<float> all;
  const auto run = [&](std::vector<DecodeRows> rows) {
    const auto logits = rig.decoder().run(rows);
    all.insert(all.end(), logits.begin(), logits.end());
  };
  run({{.ids = std::span(a).first(21), .pages = pages_a, .num_logits = 21}});
  rig.decoder().copy_page(1, 0);
  run({{.ids = std::span(b).subspan(20, 1), .first_position = 20, .pages = pages_b}});
  for (int64_t t = 21; t < kT; ++t)
    run({{.ids = std::span(a).subspan(static_cast<size_t>(t), 1),
          .first_position = t,
          .pages = pages_a},
         {.ids = std::span(b).subspan(static_cast<size_t>(t), 1),
          .first_position = t,
          .pages = pages_b}});
  return all;
}

double distance_of(const std::vector<float>& got, const std::vector<float>& want) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    difference += std::pow(double{got[i]} - want[i], 2);
    norm += double{want[i]} * want[i];
  }
  return std::sqrt(difference / norm);
}

TEST_P(CudaDecode, LogitsAreTheCpus) {
  const ModelConfig model = longer(GetParam().model);
  const auto cpu = logits_on(Device::cpu(), model, WeightFormat::F32);
  EXPECT_LT(distance_of(logits_on(Device::cuda(0), model, WeightFormat::F32), cpu), 1e-5);
  // A GPU also rounds what passes from one op to the next.
  const double rounding = distance_of(logits_on(Device::cpu(), model, WeightFormat::BF16), cpu);
  EXPECT_LT(distance_of(logits_on(Device::cuda(0), model, WeightFormat::BF16), cpu), 3 * rounding);
}

TEST_P(CudaDecode, AllocatesExactlyThePredictedBytes) {
  for (const WeightFormat weights : {WeightFormat::F32, WeightFormat::BF16}) {
    const DecodeRig rig(longer(GetParam().model),
                        {.weights = weights, .context = kT, .device = Device::cuda(0)});
    EXPECT_EQ(rig.placed().allocated_bytes(), rig.predicted_bytes());
  }
}

}  // namespace
}  // namespace ingot::test
