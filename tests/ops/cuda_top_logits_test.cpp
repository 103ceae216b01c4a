// The likeliest ids that a GPU finds are those that a sort finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "ops/memory.h"
#include "ops/top_logits.h"
#include "probe/operands.h"
#include "support/on_gpu.h"

namespace ingot {
namespace {

using Rows = std::vector<std::vector<float>>;

std::vector<IdLogit> sorted(std::vector<IdLogit> ids) {
  std::ranges::sort(ids, [](const IdLogit& a, const IdLogit& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  });
  return ids;
}

class CudaTopLogits : public test::OnGpu<::testing::Test> {
 protected:
  static std::vector<TopLogits> found_in(const Rows& rows, int64_t below, double softcap = 0) {
    const auto N = std::ssize(rows), V = std::ssize(rows[0]);
    std::vector<float> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    Operands operands(gpu());
    const Tensor logits = operands.zeros(DType::F32, {N, V});
    copy_from_host(gpu(), all.data(), logits);
    const Tensor top = operands.zeros(DType::I32, {N, kTopLogitsWords});
    Context ctx = operands.with_workspace(
        std::max<int64_t>(256, top_logits_workspace_bytes(gpu().facts, N, V)));
    top_logits(ctx, logits, below, softcap, top);
    std::vector<TopLogits> found(rows.size());
    copy_to_host(gpu(), top, found.data());
    return found;
  }

  static void expect_likeliest(const Rows& rows, int64_t below) {
    const std::vector<TopLogits> found = found_in(rows, below);
    for (size_t row = 0; row < rows.size(); ++row) {
      std::vector<IdLogit> all, got;
      for (int32_t id = 0; id < below; ++id)
        all.push_back({id, rows[row][static_cast<size_t>(id)]});
      all = sorted(all);
      all.resize(std::min(all.size(), static_cast<size_t>(kTopLogits)));
      for (const IdLogit& one : found[row].ids)
        if (one.id >= 0) got.push_back(one);
      got = sorted(got);
      ASSERT_EQ(got.size(), all.size());
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(got[i].id, all[i].id) << row << ' ' << i;
        EXPECT_EQ(got[i].logit, all[i].logit) << row << ' ' << i;
      }
      EXPECT_TRUE(found[row].all_finite);
    }
  }
};

TEST_F(CudaTopLogits, AreThoseOfASort) {
  std::mt19937 rng(1);
  std::normal_distribution<float> draw;
  for (const int64_t V : {5, 64, 1000, 4096, 4097, 32000, 128256, 300000}) {
    Rows rows(3, std::vector<float>(static_cast<size_t>(V)));
    for (float& x : rows[0]) x = draw(rng);
    for (float& x : rows[1]) x = std::round(2 * draw(rng));  // many are equal, zeros of both signs
    for (float& x : rows[2]) x = -100 - std::abs(draw(rng));
    expect_likeliest(rows, V);
    expect_likeliest(rows, (V + 1) / 2);
  }
}

TEST_F(CudaTopLogits, SaysWhatIsNotFiniteOrAllZero) {
  Rows rows(4, std::vector<float>(10000, 0.5f));
  rows[1][9999] = std::numeric_limits<float>::infinity();
  rows[2][4100] = std::numeric_limits<float>::quiet_NaN();
  rows[3].assign(10000, 0.0f);
  const auto found = found_in(rows, 9000);
  const auto flags = [&](int32_t TopLogits::*flag) {
    std::vector<int32_t> values;
    for (const TopLogits& row : found) values.push_back(row.*flag);
    return values;
  };
  EXPECT_EQ(flags(&TopLogits::all_finite), (std::vector<int32_t>{1, 0, 0, 1}));
  EXPECT_EQ(flags(&TopLogits::all_zero), (std::vector<int32_t>{0, 0, 0, 1}));
}

TEST_F(CudaTopLogits, AreCapped) {
  Rows rows(1, std::vector<float>(100));
  for (size_t i = 0; i < 100; ++i) rows[0][i] = static_cast<float>(i);
  const std::vector<TopLogits> found = found_in(rows, 100, 30);
  for (const IdLogit& one : found[0].ids)
    EXPECT_NEAR(one.logit, 30 * std::tanh(static_cast<float>(one.id) / 30), 1e-4);
}

}  // namespace
}  // namespace ingot
