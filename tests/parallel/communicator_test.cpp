#include "parallel/comm/communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/error.h"

namespace ingot {
namespace {

template <class T>
Tensor view(std::vector<T>& values) {
  return Tensor::contiguous(values.data(), dtype_of<T>(), {static_cast<int64_t>(values.size())});
}

// Values whose float sum depends on the order it is taken in.
template <class T>
T value_of(int rank, int64_t i) {
  const T sign = rank % 2 == 0 ? T(1) : T(-1);
  return sign * (T(1e8) / T(rank + 1) + T(i) * T(0.37) + T(rank));
}

template <class T>
std::vector<T> values_of(int rank, int64_t n) {
  std::vector<T> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = value_of<T>(rank, i);
  return values;
}

template <class T>
T rank_order_sum(int ranks, int64_t i) {
  T sum = value_of<T>(0, i);
  for (int rank = 1; rank < ranks; ++rank) sum += value_of<T>(rank, i);
  return sum;
}

// Fewer elements than ranks, uneven slices, one block, several blocks.
constexpr int64_t kSizes[] = {0, 1, 3, 7, 2048, 5003};

class Collectives : public ::testing::TestWithParam<int> {
 protected:
  int ranks() const { return GetParam(); }

  template <class T>
  void expect_all_reduce() {
    run_local_ranks(ranks(), [&](Communicator& comm) {
      ASSERT_EQ(comm.size(), ranks());
      for (const int64_t n : kSizes) {
        std::vector<T> values = values_of<T>(comm.rank(), n);
        comm.all_reduce_sum(view(values));
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(values[static_cast<size_t>(i)], rank_order_sum<T>(ranks(), i)) << n << " " << i;
      }
    });
  }

  template <class T>
  void expect_reduce_scatter() {
    run_local_ranks(ranks(), [&](Communicator& comm) {
      for (const int64_t n : kSizes) {
        std::vector<T> whole = values_of<T>(comm.rank(), n * ranks());
        const std::vector<T> before = whole;
        std::vector<T> part(static_cast<size_t>(n));
        comm.reduce_scatter_sum(view(whole), view(part));
        EXPECT_EQ(whole, before);
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(part[static_cast<size_t>(i)], rank_order_sum<T>(ranks(), comm.rank() * n + i));
      }
    });
  }

  template <class T>
  void expect_all_gather() {
    run_local_ranks(ranks(), [&](Communicator& comm) {
      for (const int64_t n : kSizes) {
        std::vector<T> part(static_cast<size_t>(n));
        std::fill_n(static_cast<uint8_t*>(view(part).data), view(part).bytes(),
                    static_cast<uint8_t>(16 + comm.rank()));
        std::vector<T> whole(static_cast<size_t>(n * ranks()));
        comm.all_gather(view(part), view(whole));
        const auto* bytes = reinterpret_cast<const uint8_t*>(whole.data());
        for (int64_t i = 0; i < n * ranks() * static_cast<int64_t>(sizeof(T)); ++i)
          ASSERT_EQ(bytes[i], 16 + i / (n * static_cast<int64_t>(sizeof(T))));
      }
    });
  }
};

TEST_P(Collectives, AllReduceSumsInRankOrder) {
  expect_all_reduce<float>();
  expect_all_reduce<double>();
}

TEST_P(Collectives, ReduceScatterGivesEachRankItsPartAndLeavesTheWhole) {
  expect_reduce_scatter<float>();
  expect_reduce_scatter<double>();
}

TEST_P(Collectives, AllGatherTakesAnyDtype) {
  expect_all_gather<uint8_t>();
  expect_all_gather<Bf16>();
  expect_all_gather<float>();
  expect_all_gather<double>();
}

TEST_P(Collectives, AllGatherWorksInPlace) {
  run_local_ranks(ranks(), [&](Communicator& comm) {
    std::vector<float> whole(static_cast<size_t>(5 * ranks()), -1.0f);
    const Tensor part = view(whole).slice(0, 5 * comm.rank(), 5 * comm.rank() + 5);
    std::fill_n(part.as<float>(), 5, static_cast<float>(comm.rank()));
    comm.all_gather(part, view(whole));
    for (size_t i = 0; i < whole.size(); ++i) ASSERT_EQ(whole[i], static_cast<float>(i / 5));
  });
}

TEST_P(Collectives, BroadcastCopiesTheRoot) {
  run_local_ranks(ranks(), [&](Communicator& comm) {
    for (int root = 0; root < ranks(); ++root) {
      std::vector<int32_t> values(9, comm.rank());
      comm.broadcast(view(values), root);
      EXPECT_EQ(values, std::vector<int32_t>(9, root));
    }
  });
}

TEST_P(Collectives, BarrierWaitsForEveryRank) {
  std::atomic<int> arrived = 0;
  run_local_ranks(ranks(), [&](Communicator& comm) {
    for (int round = 1; round <= 50; ++round) {
      ++arrived;
      comm.barrier();
      EXPECT_GE(arrived, round * ranks());
    }
  });
  EXPECT_EQ(arrived, 50 * ranks());
}

INSTANTIATE_TEST_SUITE_P(LocalRanks, Collectives, ::testing::Values(1, 2, 3, 4));

TEST(SingleCommunicator, EveryCollectiveIsTheIdentity) {
  const auto comm = single_communicator();
  EXPECT_EQ(comm->rank(), 0);
  EXPECT_EQ(comm->size(), 1);
  std::vector<float> a = {1.0f, 2.0f, 3.0f};
  const std::vector<float> expected = a;
  std::vector<float> b(3);
  comm->barrier();
  comm->all_reduce_sum(view(a));
  comm->broadcast(view(a), 0);
  EXPECT_EQ(a, expected);
  comm->all_gather(view(a), view(b));
  EXPECT_EQ(b, expected);
  std::vector<float> c(3);
  comm->reduce_scatter_sum(view(b), view(c));
  EXPECT_EQ(c, expected);
}

// The error that run_local_ranks rethrows.
Error error_of(int ranks, const std::function<void(Communicator&)>& body) {
  try {
    run_local_ranks(ranks, body);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected an Error";
  return Error(ErrorCode::Internal, "none");
}

TEST(LocalRanks, AFailedRankReleasesTheOthersWithItsName) {
  std::atomic<int> released = 0;
  const Error error = error_of(4, [&](Communicator& comm) {
    std::vector<float> values(100, 1.0f);
    comm.all_reduce_sum(view(values));
    if (comm.rank() == 2) throw Error(ErrorCode::Data, "shard 7 is damaged", BlastRadius::Sample);
    try {
      comm.all_reduce_sum(view(values));
      ADD_FAILURE() << "rank " << comm.rank() << " was not released";
    } catch (const Error& mine) {
      EXPECT_EQ(mine.code(), ErrorCode::Comm);
      EXPECT_EQ(mine.rank(), 2);
      EXPECT_NE(std::string(mine.what()).find("shard 7 is damaged"), std::string::npos);
      ++released;
      throw;
    }
  });
  EXPECT_EQ(released, 3);
  EXPECT_EQ(error.code(), ErrorCode::Data);
  EXPECT_EQ(error.radius(), BlastRadius::Sample);
  EXPECT_EQ(error.rank(), 2);
}

TEST(LocalRanks, NothingIsExchangedOnceARankIsGone) {
  std::vector<float> parts = {1.0f, 2.0f};
  error_of(2, [&](Communicator& comm) {
    const Tensor part = view(parts).slice(0, comm.rank(), comm.rank() + 1);
    std::vector<float> whole(2);
    comm.all_gather(part, view(whole));
    EXPECT_EQ(whole, parts);
    if (comm.rank() == 0) throw Error(ErrorCode::Data, "gone");
    std::vector<float> late(2);
    for (int attempt = 0; attempt < 3; ++attempt)
      EXPECT_THROW(comm.all_gather(part, view(late)), Error);
    EXPECT_EQ(late, std::vector<float>(2));
  });
}

TEST(LocalRanks, OfSeveralFailuresTheLowestRankIsRethrown) {
  const Error error = error_of(4, [](Communicator& comm) {
    comm.barrier();
    if (comm.rank() > 0) throw Error(ErrorCode::Numeric, "not finite", BlastRadius::Step);
    comm.barrier();
  });
  EXPECT_EQ(error.code(), ErrorCode::Numeric);
  EXPECT_EQ(error.rank(), 1);
}

TEST(LocalRanks, ARankThatReturnsEarlyIsNamed) {
  const Error error = error_of(3, [](Communicator& comm) {
    if (comm.rank() != 1) comm.barrier();
  });
  EXPECT_EQ(error.code(), ErrorCode::Comm);
  EXPECT_EQ(error.rank(), 1);
}

TEST(LocalRanks, OtherExceptionsCarryTheirRankToo) {
  const Error error = error_of(2, [](Communicator& comm) {
    if (comm.rank() == 1) throw std::runtime_error("plain");
    comm.barrier();
  });
  EXPECT_EQ(error.code(), ErrorCode::Internal);
  EXPECT_EQ(error.rank(), 1);
}

TEST(LocalRanks, DifferentCollectivesAreRefused) {
  const Error kinds = error_of(2, [](Communicator& comm) {
    std::vector<float> values(4);
    if (comm.rank() == 0)
      comm.all_reduce_sum(view(values));
    else
      comm.broadcast(view(values), 0);
  });
  EXPECT_EQ(kinds.code(), ErrorCode::Internal);
  const Error sizes = error_of(2, [](Communicator& comm) {
    std::vector<float> values(comm.rank() == 0 ? 4 : 5);
    comm.all_reduce_sum(view(values));
  });
  EXPECT_EQ(sizes.code(), ErrorCode::Internal);
}

TEST(LocalRanks, SumsOfOtherDtypesAreRefused) {
  const Error error = error_of(2, [](Communicator& comm) {
    std::vector<Bf16> values(4);
    comm.all_reduce_sum(view(values));
  });
  EXPECT_EQ(error.code(), ErrorCode::Internal);
}

}  // namespace
}  // namespace ingot
