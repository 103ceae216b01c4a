#include "core/error/error.h"

#include <gtest/gtest.h>

#include <string>

namespace ingot {
namespace {

template <class F>
Error caught(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorCode::Internal, "nothing was thrown");
}

TEST(Error, CheckPassesInSilence) {
  EXPECT_NO_THROW(check(true, ErrorCode::Data, "never {}", 1));
}

TEST(Error, CheckFormatsLvaluesRvaluesAndMoveOnlyArguments) {
  const int dim = 10;
  std::string name = "heads";
  const Error error = caught([&] {
    check(dim < 0, ErrorCode::Config, "{} must divide: expected a divisor of {}, got {}", name, dim,
          std::string("3"));
  });
  EXPECT_STREQ(error.what(), "heads must divide: expected a divisor of 10, got 3");
  EXPECT_EQ(error.code(), ErrorCode::Config);
  EXPECT_EQ(error.rank(), -1);
}

TEST(Error, CheckWorksWithoutArguments) {
  const Error error = caught([] { check(false, ErrorCode::Usage, "plain {{text}}"); });
  EXPECT_STREQ(error.what(), "plain {text}");
}

TEST(Error, PlaceIsTheCallersLineBelowTheSourceRoot) {
  const int line = __LINE__ + 1;
  const Error bare = caught([] { check(false, ErrorCode::Usage, "x"); });
  EXPECT_EQ(bare.place(), "core/error_test.cpp:" + std::to_string(line));
  const Error with_argument = caught([] { check(false, ErrorCode::Usage, "{}", 1); });
  EXPECT_EQ(with_argument.place(), "core/error_test.cpp:" + std::to_string(line + 2));
}

TEST(Error, RankIsAttachedLater) {
  Error error(ErrorCode::Comm, "lost");
  EXPECT_EQ(error.on_rank(3).rank(), 3);
}

TEST(Error, EveryCodeHasItsOwnName) {
  EXPECT_EQ(name_of(ErrorCode::Usage), "usage");
  EXPECT_EQ(name_of(ErrorCode::Internal), "internal");
}

}  // namespace
}  // namespace ingot
