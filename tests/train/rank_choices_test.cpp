#include "train/step/rank_choices.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(RankChoices, AllRanksTakeRankZeros) {
  run_local_ranks(3, Device::cpu(), [](World& world) {
    RankChoices choices(world);
    for (const std::string what : {"a large GEMM", "another"}) {
      const auto heard = choices.ask(what);
      EXPECT_EQ(heard.has_value(), world.rank() != 0);
      EXPECT_EQ(heard.value_or(what + ": algorithm 7"), what + ": algorithm 7");
      // Only rank 0 is heard.
      choices.tell(what, fmt::format("{}: algorithm {}", what, 7 + world.rank()));
    }
  });
}

TEST(RankChoices, ARankThatRankZeroLeavesAloneChoosesByItself) {
  LocalOptions options;
  options.deadlines.start = std::chrono::milliseconds(20);
  run_local_ranks(
      2, Device::cpu(),
      [](World& world) {
        const auto heard =
            world.rank() == 1 ? RankChoices(world).ask("a GEMM of its own") : std::nullopt;
        EXPECT_EQ(heard, std::nullopt);
        world.control().barrier("end");
      },
      options);
}

}  // namespace
}  // namespace ingot
