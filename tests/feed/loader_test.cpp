#include "feed/loader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error/error.h"
#include "feed/counting_source.h"
#include "support/single_stream.h"

namespace ingot {
namespace {

using testing_support::CountingSource;

constexpr int64_t T = 16;

// A loader and the stream it reads.
struct Fed {
  SampleStream stream;
  Loader loader;
  Fed(const TokenSource& source, int64_t seed, bool document_mask = false)
      : stream(test::single_stream(source, Packing::Concat, T, seed)),
        loader(stream, document_mask) {}
};

// The first token of each row of a batch names its sample.
std::vector<int32_t> rows(const Loader& loader, int64_t counter, int64_t B) {
  Batch batch;
  loader.fill(counter, B, batch);
  std::vector<int32_t> first;
  for (int64_t b = 0; b < B; ++b) first.push_back(batch.tokens[b * T]);
  return first;
}

// The order of the samples themselves, pinned: see KeyedPermutation.OrderIsTheOnePublished.
TEST(SampleOrder, FirstSamplesAreTheOnesPublished) {
  const SampleOrder order{1000, 1337};
  const std::vector<int64_t> expected{115, 50, 24, 763, 132, 179, 801, 509};
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(order.sample_at(i), expected[i]);
  const std::vector<int64_t> second_epoch{245, 206, 843, 18, 203, 478, 796, 863};
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(order.sample_at(1000 + i), second_epoch[i]);
}

TEST(SampleOrder, EachEpochVisitsEachSampleOnce) {
  const SampleOrder order{137, 42};
  std::vector<std::vector<int64_t>> epochs;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<int64_t> samples;
    for (int64_t i = 0; i < 137; ++i) {
      const int64_t counter = epoch * 137 + i;
      EXPECT_EQ(order.epoch_of(counter), epoch);
      samples.push_back(order.sample_at(counter));
    }
    epochs.push_back(samples);
    std::sort(samples.begin(), samples.end());
    for (int64_t i = 0; i < 137; ++i) ASSERT_EQ(samples[i], i) << "epoch " << epoch;
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
}

TEST(Loader, RowsAreWindowsOfTPlusOneTokens) {
  const CountingSource source(1000);
  const Fed fed(source, 7);
  const Loader& loader = fed.loader;
  Batch batch;
  loader.fill(5, 3, batch);
  EXPECT_EQ(batch.B, 3);
  EXPECT_EQ(batch.T, T);
  ASSERT_EQ(batch.tokens.size(), 3u * T);
  EXPECT_TRUE(batch.document_start.empty());
  for (int64_t b = 0; b < 3; ++b) {
    const int64_t begin = fed.stream.at(5 + b).sample * T;
    for (int64_t t = 0; t < T; ++t) {
      EXPECT_EQ(batch.tokens[b * T + t], begin + t);
      EXPECT_EQ(batch.targets[b * T + t], begin + t + 1);
    }
  }
}

TEST(Loader, NumberOfSamplesLeavesATargetForTheLastToken) {
  const auto num_samples = [](int64_t tokens) {
    return make_plan(Packing::Concat, CountingSource(tokens), T, 0)->num_samples();
  };
  EXPECT_EQ(num_samples(17), 1);
  EXPECT_EQ(num_samples(32), 1);
  EXPECT_EQ(num_samples(33), 2);
  try {
    num_samples(16);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    EXPECT_NE(std::string(error.what()).find("at least 17 tokens"), std::string::npos);
  }
  const CountingSource source(33);
  const Fed fed(source, -1);
  const Loader& loader = fed.loader;
  EXPECT_EQ(rows(loader, 0, 3), (std::vector<int32_t>{0, 16, 0}));  // reads up to the last token
}

TEST(Loader, ValidationReadsInFileOrder) {
  const CountingSource source(1000);
  const Fed fed(source, -1);
  const Loader& loader = fed.loader;
  EXPECT_EQ(rows(loader, 0, 4), (std::vector<int32_t>{0, 16, 32, 48}));
}

// One step of 24 samples as R ranks with micro-batches of b see it: rank r takes the positions
// counter + [r·24/R, (r+1)·24/R), b at a time.
TEST(Loader, RanksAndMicroBatchesCutOneAndTheSameStream) {
  const CountingSource source(3001);  // 187 samples: epochs end inside steps
  const Fed fed(source, 1337);
  const Loader& loader = fed.loader;
  constexpr int64_t kBatch = 24;
  constexpr int64_t kSteps = 20;
  const std::vector<int32_t> stream = rows(loader, 0, kBatch * kSteps);
  for (const int64_t R : {1, 2, 3, 4, 8}) {
    for (const int64_t micro : {int64_t{1}, kBatch / R}) {
      std::vector<int32_t> joined;
      for (int64_t step = 0; step < kSteps; ++step) {
        for (int64_t rank = 0; rank < R; ++rank) {
          for (int64_t i = 0; i < kBatch / R; i += micro) {
            const auto part = rows(loader, step * kBatch + rank * (kBatch / R) + i, micro);
            joined.insert(joined.end(), part.begin(), part.end());
          }
        }
      }
      EXPECT_EQ(joined, stream) << R << " ranks, " << micro << " a micro-batch";
    }
  }
}

TEST(Loader, ResumingAtACounterGivesTheSameSuffix) {
  const CountingSource source(3001);
  const std::vector<int32_t> stream = rows(Fed(source, 1337).loader, 0, 500);
  for (const int64_t counter : {1, 100, 187, 188, 373, 499}) {
    const Fed resumed(source, 1337);
    EXPECT_EQ(rows(resumed.loader, counter, 500 - counter),
              std::vector<int32_t>(stream.begin() + counter, stream.end()));
  }
}

TEST(Loader, DocumentStartsAreCountedWithinTheRow) {
  // Documents of one token, on row boundaries, and across rows.
  const std::vector<int64_t> starts{0, 5, 6, 16, 31, 64, 70, 200};
  const CountingSource source(400, starts);
  const Fed fed(source, 3, true);
  const Loader& loader = fed.loader;
  Batch batch;
  loader.fill(0, fed.stream.one_pass(), batch);
  ASSERT_EQ(batch.document_start.size(), batch.tokens.size());
  for (int64_t b = 0; b < batch.B; ++b) {
    const int64_t begin = batch.tokens[b * T];
    for (int64_t t = 0; t < T; ++t) {
      const int64_t expected = std::max<int64_t>(0, source.document_start(begin + t) - begin);
      EXPECT_EQ(batch.document_start[b * T + t], expected) << begin << " + " << t;
    }
  }
}

}  // namespace
}  // namespace ingot
