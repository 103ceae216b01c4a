#include "eval/engine_scorer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "core/error/error.h"
#include "infer/model.h"
#include "support/safetensors_file.h"
#include "support/source_path.h"

namespace ingot {
namespace {

// Models with the logits that transformers computes of ids.txt.
class Family : public ::testing::TestWithParam<const char*> {
 protected:
  std::string folder() const {
    return testing_support::source_path("tests/golden/hf/" + std::string(GetParam()));
  }
  void SetUp() override {
    std::ifstream file(folder() + "/ids.txt");
    for (int32_t id = 0; file >> id;) ids_.push_back(id);
    logits_ = test::SafetensorsFile(folder() + "/logits.safetensors").values<float>("logits");
    vocab_ = logits_.size() / ids_.size();
    ctx_.pool = &pool_;
    scorer_ = std::make_unique<EngineScorer>([this](int64_t context) {
      auto model = std::make_unique<LoadedModel>(
          ctx_, posix_storage(), folder(), ModelOptions{.context = context, .max_sequences = 4});
      known_ = static_cast<size_t>(model->tokenizer().vocab_size());
      return model;
    });
  }
  // Of ids_[token], after all before it.
  double golden(size_t token) const {
    const float* row = logits_.data() + (token - 1) * vocab_;
    double sum = 0;
    for (size_t i = 0; i < vocab_; ++i) sum += std::exp(static_cast<double>(row[i]));
    return row[ids_[token]] - std::log(sum);
  }
  bool golden_is_likeliest(size_t token) const {
    const float* row = logits_.data() + (token - 1) * vocab_;
    return std::max_element(row, row + vocab_) - row == ids_[token];
  }
  Scorer::Scores score(std::vector<ScoredSequence> sequences) {
    Scorer::Scores result;
    const std::vector<ScoreItem> items = {{std::move(sequences)}};
    scorer_->score(items, [&](size_t, const Scorer::Scores& scores) { result = scores; });
    return result;
  }
  std::vector<int32_t> first(size_t count) const {
    return {ids_.begin(), ids_.begin() + static_cast<ptrdiff_t>(count)};
  }

  ThreadPool pool_{2};
  Context ctx_;
  std::vector<int32_t> ids_;
  std::vector<float> logits_;  // (T, V)
  size_t known_ = 0;           // ids of the tokenizer
  size_t vocab_ = 0;
  std::unique_ptr<EngineScorer> scorer_;
};

TEST_P(Family, ScoresAreTransformersLogProbabilities) {
  const Scorer::Scores scores = score({{ids_, 1}});
  ASSERT_EQ(scores.front().size(), ids_.size() - 1);
  for (size_t i = 0; i + 1 < ids_.size(); ++i) {
    EXPECT_NEAR(scores.front()[i].logprob, golden(i + 1), 2e-4) << "token " << i + 1;
    EXPECT_EQ(scores.front()[i].is_likeliest, golden_is_likeliest(i + 1)) << "token " << i + 1;
  }
}

TEST_P(Family, ASharedPrefixIsComputedOnceAndChangesNoScore) {
  std::vector<int32_t> other = first(14);
  other.back() = ids_.front();
  const Scorer::Scores scores = score({{ids_, 13}, {other, 12}, {first(13), 13}});
  ASSERT_EQ(scores[0].size(), ids_.size() - 13);
  ASSERT_EQ(scores[1].size(), 2u);
  EXPECT_TRUE(scores[2].empty()) << "nothing was asked for";
  for (size_t i = 0; i < scores[0].size(); ++i)
    EXPECT_NEAR(scores[0][i].logprob, golden(13 + i), 2e-4) << i;
  EXPECT_NEAR(scores[1][0].logprob, golden(12), 2e-4);
  // All begin with 13 tokens, of which a sequence that has no more needs 12; the last of each
  // sequence has nothing behind it to score.
  const ScoreCounts& counts = scorer_->counts();
  EXPECT_EQ(counts.tokens, static_cast<int64_t>(ids_.size() + 14 + 13));
  EXPECT_EQ(counts.computed, static_cast<int64_t>(12 + (ids_.size() - 13) + 1));
  EXPECT_EQ(counts.logit_rows, static_cast<int64_t>(1 + (ids_.size() - 13) + 1));
}

TEST_P(Family, ContinuesWithTheLikeliestIds) {
  const auto never = [](std::span<const int32_t>) { return false; };
  const std::vector<int32_t> three = scorer_->continue_greedily(first(9), 3, never);
  std::vector<int32_t> whole = first(9);
  whole.insert(whole.end(), three.begin(), three.end());
  const Scorer::Scores scores = score({{whole, 9}});
  // Ids that a tokenizer does not know are never written, however likely.
  for (const IdScore& written : scores.front())
    EXPECT_TRUE(written.is_likeliest || known_ < vocab_);
  const auto two = scorer_->continue_greedily(
      first(9), 3, [](std::span<const int32_t> ids) { return ids.size() == 2; });
  EXPECT_LE(two.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Eval, Family,
                         ::testing::Values("gemma2", "gpt2", "llama", "llama_yarn", "mistral",
                                           "olmo2", "qwen2", "qwen3", "smollm2"));

class LongSequences : public ::testing::Test {
 protected:
  Scorer::Scores score(const char* family, size_t tokens, size_t first_scored) {
    ctx_.pool = &pool_;
    const std::string folder =
        testing_support::source_path("tests/golden/hf/" + std::string(family));
    EngineScorer scorer([&](int64_t context) {
      return std::make_unique<LoadedModel>(
          ctx_, posix_storage(), folder,
          ModelOptions{.context = context, .max_sequences = 2, .beyond_context = true});
    });
    std::vector<int32_t> ids(tokens);
    for (size_t i = 0; i < tokens; ++i) ids[i] = static_cast<int32_t>(2 + i * i % 37);
    Scorer::Scores result;
    const std::vector<ScoreItem> items = {{{{ids, first_scored}}}};
    scorer.score(items, [&](size_t, const Scorer::Scores& scores) { result = scores; });
    counts_ = scorer.counts();
    return result;
  }
  ThreadPool pool_{1};
  Context ctx_;
  ScoreCounts counts_;
};

// n_positions of this model is 64.
TEST_F(LongSequences, LearnedPositionsKeepTheLastTokens) {
  EXPECT_EQ(score("gpt2", 100, 90).front().size(), 10u);
  EXPECT_EQ(counts_.over_limit, 1);
  EXPECT_EQ(counts_.computed, 63);
  // Of 40 scored tokens and more than the context holds, those that have one before them.
  EXPECT_EQ(score("gpt2", 200, 100).front().size(), 63u);
}

TEST_F(LongSequences, RotaryPositionsGoOn) {
  EXPECT_EQ(score("llama", 300, 290).front().size(), 10u);
  EXPECT_EQ(counts_.over_limit, 0);
  EXPECT_EQ(counts_.past_context, 1);
  EXPECT_EQ(counts_.computed, 299);
}

}  // namespace
}  // namespace ingot
