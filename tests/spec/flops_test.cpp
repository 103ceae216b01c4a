#include "spec/model/flops.h"
#include "support/source_path.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace ingot {
namespace {

TEST(Flops, LookupIsFreeAndTheHeadIsNot) {
  ModelConfig c = model_preset("llama_10m");
  const int64_t layer = 4 * 256 * 256 + 3 * 256 * 768;
  EXPECT_EQ(matmul_parameters(c), 8 * layer + 8192 * 256);
  c.tied = true;
  EXPECT_EQ(matmul_parameters(c), 8 * layer + 8192 * 256);
  c.activation = Activation::ReluSquared;
  EXPECT_EQ(matmul_parameters(c), 8 * (layer - 256 * 768) + 8192 * 256);
}

TEST(Flops, FullAttentionCountsTwiceTheCausalTerm) {
  const ModelConfig c = model_preset("llama_10m");
  const double base = 6.0 * static_cast<double>(matmul_parameters(c));
  const double causal = train_flops_per_token(c, 512, AttentionFlops::Causal) - base;
  EXPECT_EQ(causal, 6.0 * 8 * 256 * 512);
  EXPECT_EQ(train_flops_per_token(c, 512, AttentionFlops::Full) - base, 2 * causal);
}

TEST(Flops, AWindowCountsWhatItLeavesToSee) {
  EXPECT_EQ(causal_keys(512, 0), 256.0);
  EXPECT_EQ(causal_keys(512, 512), 256.0);
  EXPECT_EQ(causal_keys(512, 1000), 256.0);
  EXPECT_EQ(causal_keys(512, 128), 112.0);  // 128, but for the first 128 queries: 64
  ModelConfig c = model_preset("llama_10m");
  const double all = train_flops_per_token(c, 512, AttentionFlops::Causal);
  const double full = train_flops_per_token(c, 512, AttentionFlops::Full);
  c.window = 128;
  c.window_layers = "wf";
  EXPECT_EQ(all - train_flops_per_token(c, 512, AttentionFlops::Causal),
            12.0 * 4 * 256 * (256 - 112));
  EXPECT_EQ(train_flops_per_token(c, 512, AttentionFlops::Full), full);
}

// One line of CSV; a field may be quoted, quotes inside it doubled.
std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

TEST(Flops, ReproducesTheMfuOfPublishedRuns) {
  std::ifstream file(testing_support::source_path("../shared/reference/published_runs.csv"));
  if (!file) GTEST_SKIP() << "../shared/reference/published_runs.csv is not there";
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  const std::vector<std::string> header = csv_fields(line);
  int num_rows = 0;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = csv_fields(line);
    ASSERT_EQ(fields.size(), header.size()) << line;
    std::map<std::string, std::string> row;
    for (size_t i = 0; i < fields.size(); ++i) row[header[i]] = fields[i];
    auto number = [&](const char* name) { return std::stod(row.at(name)); };
    auto integer = [&](const char* name) { return static_cast<int64_t>(std::stoll(row.at(name))); };

    ModelConfig c;
    c.layers = integer("layers");
    c.dim = integer("hidden");
    c.heads = integer("heads");
    c.kv_heads = integer("kv_heads");
    c.head_dim = c.dim / c.heads;
    c.ffn = integer("ffn");
    c.vocab = integer("vocab");
    c.activation = integer("gated") == 1 ? Activation::SwiGlu : Activation::ReluSquared;
    const std::string& hw = row.at("hw");
    const bool ampere = hw.find("A100") != std::string::npos || hw.starts_with("a100");
    const double peak = ampere ? 312e12 : 989e12;
    auto mfu = [&](AttentionFlops convention) {
      const double flops = train_flops_per_token(c, integer("seq"), convention);
      return 100.0 * number("tok_s_gpu") * flops / peak;
    };
    // Columns have one decimal, and tok_s_gpu was rounded after they were computed.
    EXPECT_NEAR(mfu(AttentionFlops::Full), number("mfu_full_attn_bf16peak"), 0.065) << line;
    EXPECT_NEAR(mfu(AttentionFlops::Causal), number("mfu_causal_bf16peak"), 0.065) << line;
    ++num_rows;
  }
  EXPECT_EQ(num_rows, 154);
}

}  // namespace
}  // namespace ingot
