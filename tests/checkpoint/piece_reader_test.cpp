#include <gtest/gtest.h>

#include <atomic>

#include "checkpoint/weights.h"
#include "core/error/error.h"

namespace ingot::checkpoint_test {
namespace {

constexpr int64_t kPiece =
    PieceReader::kPieceBytes / static_cast<int64_t>(sizeof(float));  // elements

// Element i of a tensor is i plus the length of its name; counts what is read.
class CountedWeights : public Weights {
 public:
  const ModelConfig& model() const override { return model_; }
  DType dtype(const std::string&) const override { return DType::F32; }
  void read(const std::string& name, ShardRange range, const Tensor& out) const override {
    ++reads;
    check(range.begin != bad_from, ErrorCode::Data, "a bad place");
    for (int64_t i = 0; i < range.size(); ++i)
      out.as<float>()[i] = static_cast<float>(range.begin + i + std::ssize(name));
  }

  mutable std::atomic<int64_t> reads = 0;
  int64_t bad_from = -1;

 private:
  ModelConfig model_;
};

TEST(PieceReader, GivesRangesInOrderAndReadsABoundedNumberOfPiecesAhead) {
  const CountedWeights weights;
  const std::vector<WeightsRange> ranges = {{"a", {0, 3 * kPiece + 1}, DType::F32},
                                            {"bb", {5, 5}, DType::F32},
                                            {"ccc", {7, 8}, DType::F32},
                                            {"dddd", {100, 100 + 40 * kPiece}, DType::F32}};
  PieceReader reader(weights, ranges);
  int64_t taken = 0;
  for (const WeightsRange& range : ranges) {
    int64_t at = range.range.begin;
    bool equal = true;
    reader.next_range([&](const Tensor& piece) {
      EXPECT_LE(piece.bytes(), PieceReader::kPieceBytes);
      EXPECT_LE(weights.reads - taken, 8);
      for (int64_t i = 0; i < piece.numel(); ++i)
        equal =
            equal && piece.as<float>()[i] == static_cast<float>(at + i + std::ssize(range.name));
      at += piece.numel();
      ++taken;
    });
    EXPECT_TRUE(equal) << range.name;
    EXPECT_EQ(at, range.range.end) << range.name;
  }
  EXPECT_EQ(taken, 45);
  EXPECT_EQ(weights.reads, 45);
}

TEST(PieceReader, ThrowsAtThePieceThatFailedAndEndsWithPiecesLeft) {
  CountedWeights weights;
  weights.bad_from = 20 * kPiece;
  PieceReader reader(weights, {{"a", {0, 100 * kPiece}, DType::F32}});
  int64_t taken = 0;
  EXPECT_THROW(reader.next_range([&](const Tensor&) { ++taken; }), Error);
  EXPECT_EQ(taken, 20);
}

TEST(WeightsProgress, CountsUpToAllParameters) {
  const CountedWeights weights;
  const int64_t all = parameter_count(weights.model());
  std::vector<int64_t> told;
  const auto watched = with_progress(weights, [&](int64_t elements, int64_t of) {
    EXPECT_EQ(of, all);
    told.push_back(elements);
  });
  std::vector<float> values(10);
  const Tensor out = Tensor::contiguous(values.data(), DType::F32, {10});
  watched->read("a", {0, 10}, out);
  watched->read("a", {3, 13}, out);
  EXPECT_EQ(told, (std::vector<int64_t>{10, 20}));
  EXPECT_EQ(values[0], 4.0f);
}

}  // namespace
}  // namespace ingot::checkpoint_test
