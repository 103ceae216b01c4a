#include "eval/text_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace ingot {
namespace {

// A model that takes each byte for as likely as any other, and remembers what it was asked.
class Uniform final : public Scorer {
 public:
  void score(std::span<const ScoreItem> items, const OnItem& on_item) override {
    for (size_t i = 0; i < items.size(); ++i) {
      Scores scores;
      for (const auto& [ids, first_scored] : items[i].sequences) {
        longest = std::max(longest, ids.size());
        scores.emplace_back(ids.size() - first_scored, IdScore{.logprob = -std::log(256.0)});
      }
      on_item(i, scores);
    }
  }
  std::vector<int32_t> continue_greedily(std::span<const int32_t>, int64_t,
                                         const IsDone&) override {
    return {};
  }
  int64_t max_tokens() const override { return std::numeric_limits<int64_t>::max(); }
  size_t longest = 0;
};

// Each byte is its own id; in text of templates «^» is BOS.
class Marked final : public Tokenizer {
 public:
  int64_t vocab_size() const override { return 257; }
  int32_t bos() const override { return 256; }
  int32_t eos() const override { return -1; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  }
  void encode_with_specials(std::string_view text, std::vector<int32_t>& ids) const override {
    for (const char c : text) ids.push_back(c == '^' ? 256 : static_cast<unsigned char>(c));
  }
  using Tokenizer::decode;
  using Tokenizer::encode;
  std::string decode(int32_t) const override { return ""; }
  std::string kind() const override { return "marked"; }
  std::string serialize() const override { return ""; }
};

class TextScores : public ::testing::Test {
 protected:
  std::unique_ptr<Tokenizer> tokenizer_ = byte_tokenizer();
  PromptIds ids_{*tokenizer_, tokenizer_->bos()};
};

// By token's place in the document, how many tokens stood before it when it was scored.
std::map<size_t, size_t> contexts_of(const ScoreItem& item, const TextWindows& windows) {
  std::map<size_t, size_t> contexts;
  size_t begin = 0;
  for (const auto& [ids, first_scored] : item.sequences) {
    for (size_t t = first_scored; t < ids.size(); ++t) {
      EXPECT_FALSE(contexts.contains(begin + t)) << begin + t << " was scored twice";
      contexts[begin + t] = t;
    }
    begin += static_cast<size_t>(windows.stride);
  }
  return contexts;
}

TEST_F(TextScores, EachTokenIsScoredOnceBehindEnoughContext) {
  for (const auto& [window, stride] : {std::pair{8, 4}, {8, 7}, {8, 1}, {2, 1}, {64, 32}}) {
    const TextWindows windows{.window = window, .stride = stride};
    for (const size_t bytes : {1, 7, 8, 9, 40}) {
      const auto contexts = contexts_of(text_item(std::string(bytes, 'a'), ids_, windows), windows);
      EXPECT_EQ(contexts.size(), bytes) << window << " " << stride;
      for (const auto& [token, before] : contexts)
        EXPECT_GE(before, std::min(token, static_cast<size_t>(window - stride))) << token;
    }
  }
}

TEST_F(TextScores, BitsPerByteOfUniformBytesAreEight) {
  Uniform scorer;
  const std::vector<TextScore> scores =
      score_texts({"abc", std::string(100, 'x'), ""}, ids_, {.window = 16, .stride = 8}, scorer);
  EXPECT_NEAR(scores[0].bits_per_byte(), 8.0, 1e-12);
  EXPECT_NEAR(scores[1].perplexity(), 256.0, 1e-9);
  EXPECT_EQ(scores[1].tokens, 100);
  EXPECT_EQ(scores[2].tokens, 0);
  EXPECT_EQ(scorer.longest, 16u);
  TextScore sum = scores[0];
  sum += scores[1];
  EXPECT_EQ(sum.bytes, 103);
  EXPECT_EQ(sum.documents, 2);
}

TEST_F(TextScores, TextSpellsNoSpecialToken) {
  const Marked tokenizer;
  const PromptIds ids{tokenizer, tokenizer.bos()};
  EXPECT_EQ(ids.of("^a"), (std::vector<int32_t>{256, '^', 'a'}));
}

TEST_F(TextScores, WithoutAnIdBeforeItTheFirstTokenIsNotScored) {
  Uniform scorer;
  const PromptIds bare{*tokenizer_, -1};
  EXPECT_EQ(score_texts({"abc"}, bare, {.window = 16, .stride = 8}, scorer)[0].tokens, 2);
}

}  // namespace
}  // namespace ingot
