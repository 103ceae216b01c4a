#include "spec/layout/shard_range.h"

#include <gtest/gtest.h>

#include "spec/error_text.h"

namespace ingot {
namespace {

TEST(ShardRange, ShardsCoverEveryElementOnceInOrder) {
  for (const int64_t numel : {0, 1, 3, 7, 8, 1000, 1001})
    for (const int ranks : {1, 2, 3, 4, 7, 16}) {
      int64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const ShardRange range = shard_range(numel, ranks, rank);
        EXPECT_EQ(range.begin, next);
        EXPECT_GE(range.size(), 0);
        EXPECT_LE(range.size(), padded_shard_size(numel, ranks));
        next = range.end;
      }
      EXPECT_EQ(next, numel);
      EXPECT_GE(padded_shard_size(numel, ranks) * ranks, numel);
      EXPECT_LT(padded_shard_size(numel, ranks) * ranks, numel + ranks);
    }
}

TEST(ShardRange, ARankThatIsNotThereIsRefused) {
  EXPECT_EQ(error_text([] { shard_range(10, 4, 4); }, ErrorCode::Internal),
            "expected a rank below 4, got 4");
}

}  // namespace
}  // namespace ingot
