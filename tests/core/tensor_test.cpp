#include "core/tensor/tensor.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "core/error/error.h"

namespace ingot {
namespace {

TEST(Shape, CountsElementsAndPrints) {
  const Shape shape{2, 512, 256};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.numel(), 2 * 512 * 256);
  EXPECT_EQ(shape[-1], 256);
  EXPECT_EQ(shape.str(), "(2, 512, 256)");
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ(Shape{}.str(), "()");
  EXPECT_EQ((Shape{3, 0}).numel(), 0);
}

TEST(Shape, EqualityNeedsTheSameRank) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{2, 3, 0}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
}

TEST(Shape, RefusesNegativeExtentsAndTooManyDims) {
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1}), Error);
}

class TensorTest : public ::testing::Test {
 protected:
  TensorTest() : values_(24) { std::iota(values_.begin(), values_.end(), 0.0f); }

  // (2, 3, 4) of 0 … 23
  Tensor tensor() { return Tensor::contiguous(values_.data(), DType::F32, {2, 3, 4}); }

  static float at(const Tensor& t, std::initializer_list<int64_t> index) {
    int64_t offset = 0;
    int dim = 0;
    for (const int64_t i : index) offset += i * t.strides[dim++];
    return t.as<float>()[offset];
  }

  std::vector<float> values_;
};

TEST_F(TensorTest, ContiguousIsRowMajor) {
  const Tensor t = tensor();
  EXPECT_EQ(t.strides, (Shape{12, 4, 1}));
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_EQ(t.bytes(), 96);
  EXPECT_EQ(at(t, {1, 2, 3}), 23.0f);
  EXPECT_EQ(t.str(), "f32 (2, 3, 4) on cpu");
}

TEST_F(TensorTest, SliceSharesMemoryAndKeepsStrides) {
  const Tensor part = tensor().slice(1, 1, 3);
  EXPECT_EQ(part.shape, (Shape{2, 2, 4}));
  EXPECT_FALSE(part.is_contiguous());
  EXPECT_EQ(at(part, {0, 0, 0}), 4.0f);
  EXPECT_EQ(at(part, {1, 1, 3}), 23.0f);
  const Tensor columns = tensor().slice(-1, 2, 3);
  EXPECT_EQ(at(columns, {1, 0, 0}), 14.0f);
  EXPECT_TRUE(tensor().slice(0, 1, 2).is_contiguous());
  EXPECT_EQ(tensor().slice(0, 1, 1).numel(), 0);
}

TEST_F(TensorTest, SplitOfAStridedSliceReachesTheSameElements) {
  // Rows (2, (1 + 2·1)·4): one query head, one key head, one value head of D = 4.
  const Tensor rows = tensor().reshape({2, 12});
  const Tensor heads = rows.slice(1, 4, 12).split(1, 2, 4);  // (2, 2, 4)
  EXPECT_EQ(heads.shape, (Shape{2, 2, 4}));
  EXPECT_EQ(heads.strides, (Shape{12, 4, 1}));
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t h = 0; h < 2; ++h) {
      for (int64_t d = 0; d < 4; ++d) {
        EXPECT_EQ(at(heads, {n, h, d}), static_cast<float>(12 * n + 4 + 4 * h + d));
      }
    }
  }
}

TEST_F(TensorTest, SplitOfAnOuterDimKeepsTheInnerOnes) {
  const Tensor t = tensor().reshape({6, 4}).split(0, 3, 2);
  EXPECT_EQ(t.shape, (Shape{3, 2, 4}));
  EXPECT_EQ(t.strides, (Shape{8, 4, 1}));
  EXPECT_TRUE(t.is_contiguous());
}

TEST_F(TensorTest, ADimOfOneElementDoesNotBreakContiguity) {
  Tensor t = tensor().reshape({1, 24});
  t.strides.set(0, 7);
  EXPECT_TRUE(t.is_contiguous());
}

TEST_F(TensorTest, WrongUseThrows) {
  EXPECT_THROW(tensor().as<double>(), Error);
  EXPECT_THROW(tensor().reshape({5, 5}), Error);
  EXPECT_THROW(tensor().slice(1, 0, 2).reshape({16}), Error);
  EXPECT_THROW(tensor().slice(0, 1, 3), Error);
  EXPECT_THROW(tensor().slice(0, 2, 1), Error);
  EXPECT_THROW(tensor().slice(3, 0, 1), Error);
  EXPECT_THROW(tensor().split(2, 3, 2), Error);
  EXPECT_EQ(tensor().as<float>(), values_.data());
}

}  // namespace
}  // namespace ingot
