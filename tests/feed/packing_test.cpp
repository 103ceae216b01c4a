#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/random/random.h"
#include "feed/best_fit.h"
#include "feed/best_fit_oracle.h"
#include "feed/counting_source.h"
#include "feed/loader.h"
#include "feed/token_counts.h"
#include "support/single_stream.h"

namespace ingot {
namespace {

using testing_support::CountingSource;

CountingSource documents_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> starts{0};
  for (const int64_t length : lengths) starts.push_back(starts.back() + length);
  const int64_t tokens = starts.back();
  starts.pop_back();
  return CountingSource(tokens, starts);
}

// Many short documents and a few that span several samples, as text has them.
std::vector<int64_t> uneven_lengths(size_t count, int64_t T) {
  const RandomStream random(11, Purpose::Test);
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < count; ++i) {
    const double u = random.uniform(i);
    lengths.push_back(1 + static_cast<int64_t>(static_cast<double>(3 * T) * u * u * u));
  }
  return lengths;
}

TEST(BestFit, EveryTokenIsAnInputOnceAndATargetOnce) {
  constexpr int64_t T = 64;
  const auto lengths = uneven_lengths(3'000, T);
  const CountingSource source = documents_of(lengths);
  const SampleStream stream = test::single_stream(source, Packing::BestFit, T, 5);
  const Loader loader(stream, /*document_mask=*/true);
  std::vector<int> as_input(static_cast<size_t>(source.num_tokens())), as_target = as_input;
  Batch batch;
  const int64_t n = stream.one_pass();
  loader.fill(0, n, batch);
  int64_t targets = 0;
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < n * T; ++i) {
    const int32_t token = batch.tokens[i], target = batch.targets[i];
    const int64_t row = i / T, start = batch.document_start[i];
    stream.parts()[0].plan->pieces(stream.at(row).sample, pieces);
    const int64_t filled =
        std::accumulate(pieces.begin(), pieces.end(), int64_t{0},
                        [](int64_t sum, const Piece& piece) { return sum + piece.length; });
    if (i % T >= filled) {  // padding
      EXPECT_EQ(token, 0);
      EXPECT_EQ(target, kPaddedTarget);
      EXPECT_EQ(start, filled);
      continue;
    }
    ++as_input[token];
    // Attention and positions begin with the piece; a piece is of one document.
    EXPECT_EQ(batch.tokens[row * T + start], token - (i % T - start));
    if (target == kPaddedTarget) {
      EXPECT_EQ(token + 1, source.document_begin(source.document_at(token) + 1));
      continue;
    }
    ++targets;
    ++as_target[target];
    EXPECT_EQ(target, token + 1);
  }
  EXPECT_EQ(std::count(as_input.begin(), as_input.end(), 1), source.num_tokens());
  for (int64_t p = 0; p < source.num_tokens(); ++p)
    ASSERT_EQ(as_target[p], source.document_start(p) == p ? 0 : 1) << p;
  EXPECT_EQ(targets, count_tokens(stream, 0, n).trained);
  EXPECT_EQ(targets, source.num_tokens() - static_cast<int64_t>(lengths.size()));
}

TEST(BestFit, DocumentsThatFitStayWhole) {
  constexpr int64_t T = 64;
  const CountingSource source = documents_of(uneven_lengths(500, T));
  const BestFitPlan plan(source, T, 5);
  std::vector<Piece> pieces;
  for (int64_t sample = 0; sample < plan.num_samples(); ++sample) {
    plan.pieces(sample, pieces);
    int64_t filled = 0;
    for (const Piece& piece : pieces) {
      filled += piece.length;
      const int64_t document = source.document_at(piece.begin);
      const int64_t begin = source.document_begin(document);
      const int64_t length = source.document_begin(document + 1) - begin;
      if (length <= T) {
        EXPECT_EQ(piece, (Piece{begin, length, false}));
      }
      for (const int64_t s : plan.samples_of(piece.begin, piece.begin + 1)) EXPECT_EQ(s, sample);
    }
    EXPECT_LE(filled, T);
  }
}

// The fast plan against the definition, a search through all samples: the same shapes of samples.
TEST(BestFit, IsBestFitDecreasing) {
  for (const int64_t T : {int64_t{1}, int64_t{7}, int64_t{64}, int64_t{130}, int64_t{5'000}}) {
    const auto lengths = uneven_lengths(400, T);
    const CountingSource source = documents_of(lengths);
    const BestFitPlan plan(source, T, 3);
    EXPECT_EQ(plan.num_samples(), testing_support::best_fit_decreasing(lengths, T)) << T;
    const double room = static_cast<double>(plan.num_samples() * T);
    EXPECT_DOUBLE_EQ(plan.padding_share(), 1 - static_cast<double>(source.num_tokens()) / room);
    if (T == 64) {
      EXPECT_LT(plan.padding_share(), 0.02);
    }
  }
}

TEST(BestFit, IsAFunctionOfLengthsAndSeed) {
  constexpr int64_t T = 64;
  const CountingSource source = documents_of(uneven_lengths(500, T));
  const BestFitPlan a(source, T, 5), same(source, T, 5), other(source, T, 6);
  std::vector<Piece> x, y, z;
  bool differs = false;
  for (int64_t sample = 0; sample < a.num_samples(); ++sample) {
    a.pieces(sample, x);
    same.pieces(sample, y);
    EXPECT_EQ(x, y);
    if (sample < other.num_samples()) other.pieces(sample, z);
    differs |= x != z;
  }
  EXPECT_TRUE(differs);
}

// A document's own beginning and end marks are tokens like others: once each, whatever the packing.
TEST(Packing, MarksOfDocumentsStandOnceEach) {
  constexpr int64_t T = 32;
  const CountingSource source = documents_of(uneven_lengths(300, T));
  for (const Packing packing : {Packing::Concat, Packing::BestFit}) {
    const SampleStream stream = test::single_stream(source, packing, T, 9);
    std::vector<int> firsts(static_cast<size_t>(source.num_documents())), lasts = firsts;
    std::vector<Piece> pieces;
    for (int64_t c = 0; c < stream.one_pass(); ++c) {
      stream.parts()[0].plan->pieces(stream.at(c).sample, pieces);
      for (const Piece& piece : pieces)
        for (int64_t p = piece.begin; p < piece.begin + piece.length; ++p) {
          const int64_t d = source.document_at(p);
          firsts[d] += p == source.document_begin(d);
          lasts[d] += p + 1 == source.document_begin(d + 1);
        }
    }
    const int64_t used =  // all but the tail that concat leaves out
        packing == Packing::Concat ? stream.one_pass() * T : source.num_tokens();
    for (int64_t d = 0; d < source.num_documents() && source.document_begin(d + 1) <= used; ++d) {
      ASSERT_EQ(firsts[d], 1) << d;
      ASSERT_EQ(lasts[d], 1) << d;
    }
  }
}

TEST(BestFit, PlanOfASubrangeCutsItsFirstAndLastDocument) {
  const CountingSource whole = documents_of({10, 10, 10});
  const auto part = subrange(whole, 4, 25);
  const BestFitPlan plan(*part, 10, 0);
  EXPECT_EQ(part->num_documents(), 3);
  std::vector<Piece> pieces, all;
  for (int64_t s = 0; s < plan.num_samples(); ++s) {
    plan.pieces(s, pieces);
    all.insert(all.end(), pieces.begin(), pieces.end());
  }
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  EXPECT_EQ(all, (std::vector<Piece>{{0, 6, false}, {6, 10, false}, {16, 5, false}}));
}

}  // namespace
}  // namespace ingot
