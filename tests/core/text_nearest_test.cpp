#include "core/text/nearest.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(NearestName, ForgivesTyposAndMissingSections) {
  const std::vector<std::string> names = {"optim.lr", "optim.beta1", "optim.beta2", "train.steps"};
  EXPECT_EQ(nearest_name("optim.lrr", names), "optim.lr");
  EXPECT_EQ(nearest_name("optim.beta3", names), "optim.beta1");
  EXPECT_EQ(nearest_name("lr", names), "optim.lr");
  EXPECT_EQ(nearest_name("optim.steps", names), "train.steps");
  EXPECT_EQ(nearest_name("dropout", names), "");
}

TEST(NearestName, CountsTwoExchangedLettersAsOneMistake) {
  EXPECT_EQ(nearest_name("cdua", {"auto", "cpu", "cuda"}), "cuda");
}

}  // namespace
}  // namespace ingot
