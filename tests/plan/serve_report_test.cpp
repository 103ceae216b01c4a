#include "plan/serve_report.h"

#include <gtest/gtest.h>

#include "core/tensor/kv_page.h"

namespace ingot {
namespace {

int64_t bytes_of(const ModelConfig& model, WeightFormat weights, int64_t tokens, int64_t count) {
  const DecodeShape shape =
      decode_shape({}, model, {.weights = weights, .context = tokens, .max_sequences = count});
  return plan_memory(transformer_decode_table(model, shape)).total_bytes;
}

TEST(ServeReport, EachCountFitsAndOneMoreDoesNot) {
  const ModelConfig model = model_preset("llama_10m");
  constexpr int64_t kFree = 400'000'000;
  for (const WeightFormat weights : kAllWeightFormats) {
    const ServeReport report = serve_report({}, model, weights, kFree);
    ASSERT_GT(report.fits.size(), 1u);
    EXPECT_EQ(report.fits.back().tokens, model.context);
    for (const ServeReport::Fit& fit : report.fits) {
      ASSERT_GT(fit.conversations, 0);
      EXPECT_EQ(fit.bytes, bytes_of(model, weights, fit.tokens, fit.conversations));
      EXPECT_LE(fit.bytes, kFree);
      EXPECT_GT(bytes_of(model, weights, fit.tokens, fit.conversations + 1), kFree);
    }
  }
}

TEST(ServeReport, BytesOfATokenAreThoseOfItsPage) {
  const ModelConfig model = model_preset("llama_10m");
  const ServeReport report = serve_report({}, model, WeightFormat::Q8_0, 400'000'000);
  EXPECT_EQ(report.token_bytes * kPageTokens,
            model.layers * page_elements(model.kv_heads, model.head_dim) * 2);
}

TEST(ServeReport, WithoutRoomForTheWeightsNothingFits) {
  const ServeReport report = serve_report({}, model_preset("llama_10m"), WeightFormat::F32, 1000);
  for (const ServeReport::Fit& fit : report.fits) EXPECT_EQ(fit.conversations, 0);
}

}  // namespace
}  // namespace ingot
