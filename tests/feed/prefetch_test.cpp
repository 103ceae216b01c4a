#include "feed/prefetch.h"

#include <gtest/gtest.h>

#include "core/error/error.h"
#include "feed/counting_source.h"
#include "support/single_stream.h"

namespace ingot {
namespace {

using testing_support::CountingSource;

constexpr int64_t T = 8;

std::function<std::optional<int64_t>()> positions(int64_t first, int64_t step, int64_t end) {
  return [next = first, step, end]() mutable -> std::optional<int64_t> {
    if (next >= end) return std::nullopt;
    return std::exchange(next, next + step);
  };
}

TEST(Prefetch, GivesTheBatchesOfTheLoaderInOrder) {
  const CountingSource source(2'001);
  const SampleStream stream = test::single_stream(source, Packing::Concat, T, 3);
  const Loader loader(stream, true);
  Prefetcher batches(loader, 2, positions(4, 6, 3'000));
  Batch expected;
  for (int64_t counter = 4; counter < 3'000; counter += 6) {
    const Batch& batch = batches.next();
    loader.fill(counter, 2, expected);
    ASSERT_EQ(batch.counter, counter);
    ASSERT_EQ(batch.tokens, expected.tokens);
    ASSERT_EQ(batch.targets, expected.targets);
    ASSERT_EQ(batch.document_start, expected.document_start);
  }
  EXPECT_THROW(batches.next(), Error);
}

// Fails when the tokens from `bad` on are read.
class FailingSource final : public TokenSource {
 public:
  explicit FailingSource(int64_t bad) : bad_(bad) {}
  int64_t num_tokens() const override { return 1'001; }
  int64_t num_bytes(int64_t, int64_t) const override { return -1; }
  void read(int64_t begin, std::span<int32_t> out) const override {
    check(begin + static_cast<int64_t>(out.size()) <= bad_, ErrorCode::Data, "token {} is bad",
          bad_);
  }
  int64_t num_documents() const override { return 1; }
  int64_t document_begin(int64_t document) const override { return document * num_tokens(); }
  int64_t document_at(int64_t) const override { return 0; }
  std::string document_name(int64_t) const override { return ""; }
  uint64_t content_hash() const override { return 0; }
  std::string describe() const override { return "failing"; }

 private:
  int64_t bad_;
};

TEST(Prefetch, AnErrorComesWithTheBatchThatHasIt) {
  const FailingSource source(500);
  const SampleStream stream = test::single_stream(source, Packing::Concat, T, -1);
  const Loader loader(stream, false);
  Prefetcher batches(loader, 1, positions(0, 1, 100));
  for (int64_t good = 0; good < 499 / T; ++good) EXPECT_EQ(batches.next().counter, good);
  for (int again = 0; again < 2; ++again) {
    try {
      batches.next();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "token 500 is bad");
    }
  }
}

TEST(Prefetch, MayBeAbandonedAtAnyTime) {
  const CountingSource source(2'001);
  const SampleStream stream = test::single_stream(source, Packing::Concat, T, 3);
  const Loader loader(stream, false);
  for (int taken = 0; taken < 10; ++taken) {
    Prefetcher batches(loader, 2, positions(0, 2, 1'000'000));
    for (int i = 0; i < taken; ++i) batches.next();
  }
}

}  // namespace
}  // namespace ingot
