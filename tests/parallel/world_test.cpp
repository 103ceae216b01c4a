#include "parallel/comm/world.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "core/device/compute_device.h"
#include "core/error/error.h"

namespace ingot {
namespace {

using std::chrono::milliseconds;

void on_ranks(int ranks, const std::function<void(World&)>& body) {
  run_local_ranks(ranks, Device::cpu(), body);
}

Error error_of(int ranks, const std::function<void(World&)>& body) {
  try {
    on_ranks(ranks, body);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected an Error";
  return {ErrorCode::Internal, "none"};
}

TEST(LocalRanks, EachKnowsItsPlace) {
  std::atomic<int> seen = 0;
  on_ranks(3, [&](World& world) {
    EXPECT_EQ(world.process().world, 3);
    EXPECT_EQ(world.process().rank, world.rank());
    EXPECT_EQ(world.process().local_rank, world.rank());
    EXPECT_EQ(world.process().device, Device::cpu());
    EXPECT_EQ(world.control().rank(), world.rank());
    EXPECT_EQ(world.control().size(), 3);
    seen += 1 << (4 * world.rank());
  });
  EXPECT_EQ(seen, 0x111);
}

TEST(LocalRanks, ReadWhatOthersPost) {
  on_ranks(3, [](World& world) {
    if (world.rank() == 1) world.board().post("choice", "the second");
    EXPECT_EQ(world.board().await("choice", std::chrono::minutes(1)), "the second");
  });
  const Error nobody = error_of(2, [](World& world) {
    if (world.rank() == 0) world.board().await("choice", milliseconds(20));
  });
  EXPECT_NE(std::string(nobody.what()).find("«choice», which no rank posted"), std::string::npos);
}

TEST(LocalRanks, WhoAwaitsALostRankIsReleased) {
  const Error error = error_of(2, [](World& world) {
    check(world.rank() == 0, ErrorCode::Data, "a shard is damaged");
    world.board().await("choice", std::chrono::minutes(10));
  });
  EXPECT_EQ(error.rank(), 1);
  EXPECT_EQ(error.code(), ErrorCode::Data);
}

TEST(LocalRanks, AGroupOfOneIsACommunicatorLikeOthers) {
  on_ranks(1, [](World& world) {
    EXPECT_EQ(world.transport().name, "threads");
    ComputeDevice compute(Device::cpu(), 1, "");
    const auto group = world.everyone(compute.context());
    EXPECT_EQ(group->size(), 1);
    EXPECT_FALSE(group->capturable());
  });
}

TEST(SingleWorld, AgreesWithItself) {
  const auto world = single_world();
  EXPECT_EQ(world->size(), 1);
  Control& control = world->control();
  control.barrier("start");
  EXPECT_EQ(control.gather("names", "a"), std::vector<std::string>{"a"});
  EXPECT_FALSE(control.any("stop", false));
  EXPECT_TRUE(control.any("stop", true));
  EXPECT_EQ(control.sum("loss", 0.1), 0.1);
}

class ControlOf : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ControlOf, ::testing::Values(1, 2, 3, 8));

TEST_P(ControlOf, BarrierWaitsForEveryRank) {
  std::atomic<int> arrived = 0;
  on_ranks(GetParam(), [&](World& world) {
    for (int round = 1; round <= 50; ++round) {
      ++arrived;
      world.control().barrier("round");
      EXPECT_GE(arrived, round * world.size());
    }
  });
  EXPECT_EQ(arrived, 50 * GetParam());
}

TEST_P(ControlOf, GathersTextsOfAnyLengthInRankOrder) {
  on_ranks(GetParam(), [&](World& world) {
    for (int round = 0; round < 20; ++round) {
      const auto texts = world.control().gather(
          "texts", std::string(static_cast<size_t>(world.rank() * round), 'x'));
      ASSERT_EQ(texts.size(), static_cast<size_t>(world.size()));
      for (size_t rank = 0; rank < texts.size(); ++rank)
        EXPECT_EQ(texts[rank], std::string(rank * static_cast<size_t>(round), 'x'));
    }
  });
}

TEST_P(ControlOf, SumsInRankOrder) {
  const auto value = [](int rank, int i) {
    return (rank % 2 == 0 ? 1e16 : -1e16) / (rank + 1) + i;
  };
  on_ranks(GetParam(), [&](World& world) {
    std::vector<double> values;
    for (int i = 0; i < 5; ++i) values.push_back(value(world.rank(), i));
    world.control().sum("values", values);
    for (int i = 0; i < 5; ++i) {
      double expected = value(0, i);
      for (int rank = 1; rank < world.size(); ++rank) expected += value(rank, i);
      EXPECT_EQ(values[static_cast<size_t>(i)], expected);
      EXPECT_EQ(world.control().sum("one", value(world.rank(), i)), expected);
    }
  });
}

TEST_P(ControlOf, AnyIsTrueWhereOneSaysSo) {
  on_ranks(GetParam(), [&](World& world) {
    EXPECT_FALSE(world.control().any("stop", false));
    for (int rank = 0; rank < world.size(); ++rank)
      EXPECT_TRUE(world.control().any("stop", rank == world.rank()));
  });
}

TEST(Control, RoundsOfDifferentNamesAreToldOnEveryRankAndDoNoHarm) {
  std::atomic<int> refused = 0;
  on_ranks(3, [&](World& world) {
    try {
      world.control().barrier(world.rank() == 1 ? "save" : "step");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Internal);
      EXPECT_STREQ(error.what(),
                   "ranks meet for different things: rank 0 for «step», rank 1 for «save»");
      ++refused;
    }
    world.control().barrier("end");
  });
  EXPECT_EQ(refused, 3);
}

TEST(Control, WhoComesTooLateIsToldWhoGaveItUp) {
  std::promise<void> left;
  const Error error = error_of(2, [&](World& world) {
    if (world.rank() == 0) {
      try {
        world.control().barrier("save", milliseconds(1));
      } catch (const Error&) {
        left.set_value();
        throw;
      }
    }
    left.get_future().wait();
    world.control().barrier("save");
  });
  EXPECT_EQ(error.code(), ErrorCode::Comm);
  EXPECT_EQ(error.rank(), 1);
  const std::string text = error.what();
  EXPECT_NE(text.find("this rank came too late: rank 0 in save #1"), std::string::npos) << text;
}

TEST(LocalRanks, OfSeveralFailuresTheLowestRankIsRethrown) {
  const Error error = error_of(4, [](World& world) {
    world.control().barrier("start");
    if (world.rank() > 0) throw Error(ErrorCode::Numeric, "not finite");
    world.control().barrier("end");
  });
  EXPECT_EQ(error.code(), ErrorCode::Numeric);
  EXPECT_EQ(error.rank(), 1);
}

TEST(LocalRanks, ARankThatReturnsEarlyIsNamed) {
  const Error error = error_of(3, [](World& world) {
    if (world.rank() != 1) world.control().barrier("end");
  });
  EXPECT_EQ(error.code(), ErrorCode::Comm);
  EXPECT_EQ(error.rank(), 1);
}

TEST(LocalRanks, OtherExceptionsCarryTheirRankToo) {
  const Error error = error_of(2, [](World& world) {
    if (world.rank() == 1) throw std::runtime_error("plain");
    world.control().barrier("end");
  });
  EXPECT_EQ(error.code(), ErrorCode::Internal);
  EXPECT_EQ(error.rank(), 1);
}

}  // namespace
}  // namespace ingot
