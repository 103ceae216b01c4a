#include "ops/random_fill.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/error/error.h"
#include "ops/memory.h"

namespace ingot {
namespace {

class RandomFill : public ::testing::Test {
 protected:
  RandomFill() { ctx_.pool = &pool_; }
  template <class T>
  std::vector<T> drawn(int64_t n, uint64_t first) {
    std::vector<T> values(static_cast<size_t>(n));
    fill_normal(ctx_, stream_, first, 0.02f, Tensor::contiguous(values.data(), dtype_of<T>(), {n}));
    return values;
  }

  const RandomStream stream_{7, Purpose::Init, 3};
  ThreadPool pool_{2};
  Context ctx_;
};

TEST_F(RandomFill, IsTheStreamsNumbersWhateverTheFirst) {
  for (const uint64_t first : {0, 3, 1021}) {
    const std::vector<float> values = drawn<float>(2000, first);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], 0.02f * stream_.normal(first + i)) << first << " + " << i;
  }
}

// 200,000 elements are several tasks, and each of them several pieces.
TEST_F(RandomFill, InF64HasTheValuesOfF32) {
  for (const int64_t n : {1, 1023, 1025, 200'000}) {
    const std::vector<float> narrow = drawn<float>(n, 3);
    EXPECT_EQ(drawn<double>(n, 3), std::vector<double>(narrow.begin(), narrow.end())) << n;
  }
}

TEST_F(RandomFill, OtherTypesAreRefused) {
  EXPECT_THROW(drawn<Bf16>(4, 0), Error);
}

TEST_F(RandomFill, AConstantFillsEveryElementOfBothWidths) {
  std::vector<double> wide(100'000);
  fill(ctx_, 1.5f, Tensor::contiguous(wide.data(), DType::F64, {100'000}));
  EXPECT_EQ(wide, std::vector<double>(100'000, 1.5));
  std::vector<float> narrow(100'000);
  fill(ctx_, 1.5f, Tensor::contiguous(narrow.data(), DType::F32, {100'000}));
  EXPECT_EQ(narrow, std::vector<float>(100'000, 1.5f));
}

}  // namespace
}  // namespace ingot
