#include "feed/token_counts.h"

#include <gtest/gtest.h>

#include <set>

#include "feed/counting_source.h"
#include "ledger/records/run_records.h"
#include "support/single_stream.h"

namespace ingot {
namespace {

using testing_support::CountingSource;

TEST(TokenCounts, RunningTextTrainsEveryPositionAndIsUniqueForOneEpoch) {
  const CountingSource source(101);  // 10 samples of 10
  const SampleStream stream = test::single_stream(source, Packing::Concat, 10, 1);
  EXPECT_EQ(count_tokens(stream, 0, 4), (TokenCounts{40, 0, 40}));
  EXPECT_EQ(count_tokens(stream, 0, 25), (TokenCounts{250, 0, 100}));
  EXPECT_EQ(count_tokens(stream, 8, 12), (TokenCounts{40, 0, 20}));
}

TEST(TokenCounts, PackedDocumentsHavePositionsWithoutATarget) {
  // Documents of 4, 3 and 6 tokens in sequences of 10: two samples, of 20 positions 3 first tokens
  // and 7 of padding are no target.
  const CountingSource source(13, {0, 4, 7});
  const SampleStream stream = test::single_stream(source, Packing::BestFit, 10, 1);
  ASSERT_EQ(stream.one_pass(), 2);
  EXPECT_EQ(count_tokens(stream, 0, 2), (TokenCounts{10, 10, 10}));
  EXPECT_EQ(count_tokens(stream, 0, 6), (TokenCounts{30, 30, 10}));
}

// Two parts of 10 samples each, in orders of their own: 20 draws are each of them twice.
TEST(TokenCounts, PartsOfEqualContentHaveTheSameDistinctTokens) {
  const CountingSource source(101);
  for (const Packing packing : {Packing::Concat, Packing::BestFit}) {
    std::vector<StreamPart> parts;
    for (const double weight : {1.0, 2.0})
      parts.push_back({&source, make_plan(packing, source, 10, 1), weight, 7});
    const SampleStream stream(std::move(parts), 10, 1);
    TokenCounts sum;
    std::set<int64_t> used;
    for (int64_t counter = 0; counter < 60; ++counter) {
      sum += count_tokens(stream, counter, counter + 1);
      used.insert(stream.at(counter).sample);
      EXPECT_EQ(sum.unique, count_tokens(stream, 0, counter + 1).unique);
      if (packing == Packing::Concat) {
        EXPECT_EQ(sum.unique, static_cast<int64_t>(10 * used.size())) << counter;
      }
    }
    EXPECT_EQ(used.size(), stream.parts()[0].plan->num_samples());
  }
}

TEST(TokenCounts, AddUpOverStepsToTheWholeRun) {
  const CountingSource source(500, {0, 13, 77, 200, 201, 333});
  for (const Packing packing : {Packing::Concat, Packing::BestFit}) {
    const SampleStream stream = test::single_stream(source, packing, 32, 7);
    TokenCounts sum;
    for (int64_t step = 0; step < 12; ++step) sum += count_tokens(stream, 3 * step, 3 * step + 3);
    EXPECT_EQ(sum, count_tokens(stream, 0, 36));
    EXPECT_EQ(sum.positions(), 36 * 32);
    StepReport report;
    EXPECT_FALSE(counts_in(report));
    put(sum, report);
    EXPECT_EQ(counts_in(report), sum);
  }
}

}  // namespace
}  // namespace ingot
