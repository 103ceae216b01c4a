#include "core/error/stack.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "core/error/error.h"

namespace ingot {
namespace {

TEST(Stack, LinesNameFileAndAddress) {
  const auto lines = stack_lines(stack_here());
  ASSERT_GE(lines.size(), 2u);
  EXPECT_NE(lines[0].find("test_core 0x"), std::string::npos) << lines[0];
  // The C library exports its names.
  const std::string all = fmt::format("{}", fmt::join(lines, "\n"));
  EXPECT_NE(all.find("__libc_start_main"), std::string::npos) << all;
}

TEST(Stack, OfALostRankIsWhereItWasFirstNoticed) {
  const Error error(ErrorCode::Comm, "rank 1 is lost");
  EXPECT_FALSE(error.stack().empty());
  EXPECT_EQ(error.during("a step").stack(), error.stack());
  EXPECT_TRUE(Error(ErrorCode::Config, "a wrong setting").stack().empty());
}

}  // namespace
}  // namespace ingot
