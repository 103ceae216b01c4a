#include "ops/embedding.h"

#include <gtest/gtest.h>

#include "core/error/error.h"
#include "rig.h"

namespace ingot {
namespace {

using test::view;

TEST(Embedding, TokenOutsideTheVocabularyIsADataErrorWithPositionAndId) {
  test::Rig rig;
  std::vector<float> table(4 * 3), out(3 * 3), dtable(4 * 3);
  for (int32_t bad : {-1, 4}) {
    std::vector<int32_t> tokens = {0, bad, 3};
    auto expect_error = [&](auto&& call) {
      try {
        call();
        ADD_FAILURE() << "accepted " << bad;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Data);
        EXPECT_NE(std::string(error.what()).find(fmt::format("token {} at position 1", bad)),
                  std::string::npos)
            << error.what();
      }
    };
    expect_error([&] {
      embedding_forward(rig.ctx, view(tokens, {3}), view(table, {4, 3}), view(out, {3, 3}));
    });
    expect_error([&] {
      embedding_backward(rig.ctx, view(tokens, {3}), view(out, {3, 3}), view(dtable, {4, 3}));
    });
  }
}

TEST(Embedding, BackwardAddsToWhatIsThereInTokenOrder) {
  test::Rig rig;
  std::vector<int32_t> tokens = {1, 0, 1, 1};
  // In token order 1 + 2⁻²⁴ + 2⁻²⁴ stays 1; the other way round it would not.
  std::vector<float> dout = {0x1p-24f, 5.0f, 0x1p-24f, 3.0f};
  std::vector<float> dtable = {2.0f, 1.0f};
  embedding_backward(rig.ctx, view(tokens, {4}), view(dout, {4, 1}), view(dtable, {2, 1}));
  EXPECT_EQ(dtable, (std::vector<float>{7.0f, 4.0f}));
}

TEST(Embedding, NoTokensIsFine) {
  test::Rig rig;
  std::vector<int32_t> tokens(1);
  std::vector<float> table(6, 1.0f), out(1);
  embedding_forward(rig.ctx, view(tokens, {0}), view(table, {2, 3}), view(out, {0, 3}));
  embedding_backward(rig.ctx, view(tokens, {0}), view(out, {0, 3}), view(table, {2, 3}));
  EXPECT_EQ(table, std::vector<float>(6, 1.0f));
}

}  // namespace
}  // namespace ingot
