// Ranks that share a GPU and exchange tensors through NCCL, each a process.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/async/recorded_work.h"
#include "parallel/comm/nccl_facts.h"
#include "parallel/process_backend.h"

namespace ingot::test {
namespace {

Process own_process() {
  Process process;
  process.rank = process.local_rank = variable("INGOT_RANK", 0);
  process.world = process.local_world = variable("INGOT_WORLD", 1);
  process.device = Device::cuda(0);
  process.secret = "nccl test";
  process.host = "localhost";
  return process;
}

// Another port for every world: a rank that is late in leaving one must not be met by the next.
std::string next_rendezvous() {
  static int port = variable("INGOT_PORT", 20000);
  return "127.0.0.1:" + std::to_string(port++);
}

Backend nccl_backend() {
  const Abilities can{.rank_order_sums = false,
                      .compares_calls = false,
                      .releases = false,  // as below: what is left in memory is not defined
                      .unreduced = {DType::U16}};
  return process_backend(CommBackend::Nccl, own_process(), can, next_rendezvous);
}

class NcclRanks : public CommunicatorConformance {};
TEST_P(NcclRanks, Holds) {
  hold();
}
INSTANTIATE_TEST_SUITE_P(Promises, NcclRanks, promises_on({nccl_backend()}), promise_name);

constexpr auto kShort = std::chrono::seconds(3);

// The error that this rank ends with.
Error error_in(const Deadlines& deadlines, const Body& body) {
  Process process = own_process();
  process.rendezvous = next_rendezvous();
  try {
    rank_launcher(process, {.backend = CommBackend::Nccl, .deadlines = deadlines})->run(body);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "rank " << process.rank << " went on";
  return {ErrorCode::Internal, "none"};
}

bool is_last(World& world) {
  return world.rank() == world.size() - 1;
}

TEST(Nccl, FactsNameTheVersionAndWhatIsSet) {
  const auto facts = nccl_facts([](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  });
  EXPECT_EQ(facts.find("NCCL 2."), 0u) << facts;
  EXPECT_NE(facts.find("NCCL_MAX_CTAS=2"), std::string::npos) << facts;
  if (own_process().rank == 0) std::cout << facts << "\n";
}

TEST(Nccl, CallsCanBeRecordedAndReplayed) {
  nccl_backend()([](World& world) {
    CommRank rank(world);
    EXPECT_TRUE(rank.comm().capturable());
    constexpr int64_t kPart = 5003;
    const int64_t ranks = rank.size();
    const Tensor part = rank.put(std::vector<int32_t>(kPart));
    const Tensor whole = rank.put(std::vector<int32_t>(static_cast<size_t>(kPart * ranks)));
    const Tensor sum = rank.put(std::vector<int32_t>(kPart));
    const auto work = make_recorded_work(rank.ctx());
    for (int round = 0; round < 5; ++round) {
      const auto mine = numbers<int32_t>(10 * round + rank.rank(), kPart);
      copy_from_host(rank.ctx(), mine.data(), part);
      work->run("step", [&] {
        rank.lane().after(rank.comm().all_gather(part, whole, rank.ready()));
        rank.lane().after(rank.comm().reduce_scatter(whole, sum, Reduce::Sum, rank.ready()));
      });
      std::vector<int32_t> gathered, summed;
      for (int r = 0; r < rank.size(); ++r)
        for (const int32_t value : numbers<int32_t>(10 * round + r, kPart))
          gathered.push_back(value);
      for (const int32_t value : mine) summed.push_back(value * static_cast<int32_t>(ranks));
      EXPECT_EQ(rank.get<int32_t>(whole), gathered) << round;
      EXPECT_EQ(rank.get<int32_t>(sum), summed) << round;
    }
  });
}

TEST(Nccl, AFailedRankReleasesTheOthers) {
  const int bad = own_process().world - 1;
  const Error error = error_in(short_deadlines(), [&](World& world) {
    CommRank rank(world);
    const Tensor tensor = rank.put(std::vector<float>(100, 1.0f));
    rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready()).wait();
    if (rank.rank() == bad) throw Error(ErrorCode::Data, "shard 7 is damaged");
    rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready()).wait();
  });
  EXPECT_EQ(error.rank(), bad);
  EXPECT_NE(std::string(error.what()).find("shard 7 is damaged"), std::string::npos);
  if (own_process().rank == bad) return;
  EXPECT_EQ(error.code(), ErrorCode::Comm);
  EXPECT_NE(std::string(error.what()).find("all_reduce #2 (sum) of f32 (100)"), std::string::npos)
      << error.what();
}

TEST(Nccl, ARankThatDoesNotJoinEndsTheWait) {
  Deadlines deadlines = short_deadlines();
  deadlines.collective = kShort;
  const Error error = error_in(deadlines, [](World& world) {
    CommRank rank(world);
    const Tensor tensor = rank.put(std::vector<float>(100, 1.0f));
    rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready()).wait();
    if (is_last(world)) world.control().barrier("that nobody comes to", std::chrono::seconds(15));
    rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready()).wait();
  });
  EXPECT_EQ(error.code(), ErrorCode::Comm);
  const std::string text = error.what();
  // Of the ranks that wait, one is the first to say so; the others hear of it.
  EXPECT_EQ(error.rank(), own_process().world - 1);
  EXPECT_NE(text.find(" s for rank " + std::to_string(error.rank())), std::string::npos) << text;
}

// The host does not know what is in a graph, and nobody waits for tickets of it.
TEST(Nccl, ARankThatDoesNotReplayEndsTheWaitToo) {
  Deadlines deadlines = short_deadlines();
  deadlines.collective = kShort;
  const Error error = error_in(deadlines, [](World& world) {
    CommRank rank(world);
    const Tensor tensor = rank.put(std::vector<float>(100, 1.0f));
    const auto work = make_recorded_work(rank.ctx());
    for (int round = 0; round < 4; ++round) {
      if (round == 3 && is_last(world))
        world.control().barrier("that nobody comes to", std::chrono::seconds(15));
      work->run("step", [&] {
        rank.lane().after(rank.comm().all_reduce(tensor, Reduce::Max, rank.ready()));
      });
      synchronize(rank.ctx());
    }
    world.control().barrier("end of the step");
  });
  EXPECT_EQ(error.code(), ErrorCode::Comm) << error.what();
  EXPECT_EQ(error.rank(), own_process().world - 1) << error.what();
}

}  // namespace
}  // namespace ingot::test
