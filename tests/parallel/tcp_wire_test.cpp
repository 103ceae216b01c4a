#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <numeric>

#include "parallel/child_rank.h"
#include "parallel/comm/wire/wire.h"
#include "parallel/tcp_ranks.h"

namespace ingot::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using WireBody = std::function<void(HostPlane&, Wire&)>;

void on_wires(int ranks, const WireBody& body) {
  const int port = rendezvous_port();
  const auto outcomes = outcomes_of(ranks, [&](int rank) {
    Watch watch;
    const auto plane = tcp_host_plane(tcp_process(rank, ranks, port), {}, watch);
    const auto wire = tcp_wire(*plane);
    body(*plane, *wire);
    plane->go("");
  });
  for (const auto& outcome : outcomes)
    if (outcome) std::rethrow_exception(outcome);
}

// Words that differ along the way and by who sends them to whom.
std::vector<uint64_t> words_of(int from, int to, size_t count) {
  std::vector<uint64_t> words(count);
  std::iota(words.begin(), words.end(), static_cast<uint64_t>(from * 7 + to) << 40);
  return words;
}

// Everybody sends to everybody far more than sockets hold before anybody could have read it.
TEST(TcpWire, FullSocketsDoNotStopTheOtherDirection) {
  constexpr size_t kWords = size_t{2} << 20;  // 16 MiB: sockets take less while nobody reads
  on_wires(3, [&](HostPlane& plane, Wire& wire) {
    const int own = plane.process().rank;
    const auto channel = wire.open("all", {0, 1, 2});
    std::vector<std::vector<uint64_t>> sent, got;
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (int other = 0; other < 3; ++other) {
      sent.push_back(words_of(own, other, kWords));
      got.emplace_back(kWords);
    }
    for (int other = 0; other < 3; ++other) {
      if (other == own) continue;
      out.push_back({other, std::as_bytes(std::span(sent[static_cast<size_t>(other)]))});
      in.push_back({other, std::as_writable_bytes(std::span(got[static_cast<size_t>(other)]))});
    }
    channel->exchange(out, in, seconds(60));
    for (int other = 0; other < 3; ++other) {
      const bool whole = got[static_cast<size_t>(other)] == words_of(other, own, kWords);
      EXPECT_EQ(whole, other != own) << other;
    }
  });
}

TEST(TcpWire, ChannelsOfOneNameMeetWhoeverOpensThemFirst) {
  on_wires(2, [](HostPlane& plane, Wire& wire) {
    const int own = plane.process().rank, other = 1 - own;
    const auto first = wire.open(own == 0 ? "a" : "b", {0, 1});
    const auto second = wire.open(own == 0 ? "b" : "a", {0, 1});
    for (const bool is_first : {true, false}) {  // a, then b
      const std::string text = own == 0 ? "from 0" : "from 1";
      std::string got(text.size(), '?');
      Channel& channel = is_first == (own == 0) ? *first : *second;
      const Outgoing out{other, std::as_bytes(std::span(text))};
      const Incoming in{other, std::as_writable_bytes(std::span(got))};
      channel.exchange({&out, 1}, {&in, 1}, seconds(60));
      EXPECT_EQ(got, own == 0 ? "from 1" : "from 0");
    }
  });
}

TEST(TcpWire, APatienceThatEndsNamesWhoseBytesDidNotCome) {
  std::latch tired(1);
  const int port = rendezvous_port();
  const auto outcomes = outcomes_of(3, [&](int rank) {
    Watch watch;
    const auto plane = tcp_host_plane(tcp_process(rank, 3, port), {}, watch);
    const auto wire = tcp_wire(*plane);
    const auto channel = wire->open("all", {0, 1, 2});
    if (rank > 0) {
      // Rank 1 sends what rank 0 waits for, rank 2 does not.
      const std::string text = "hello";
      const Outgoing out{0, std::as_bytes(std::span(text))};
      if (rank == 1) channel->exchange({&out, 1}, {}, seconds(20));
      tired.wait();
      return plane->go("");
    }
    std::string texts[] = {"12345", "12345"};
    const Incoming in[] = {{1, std::as_writable_bytes(std::span(texts[0]))},
                           {2, std::as_writable_bytes(std::span(texts[1]))}};
    try {
      channel->exchange({}, in, milliseconds(400));
      ADD_FAILURE() << "it went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Comm);
      EXPECT_EQ(error.rank(), 2);
      const std::string what = error.what();
      EXPECT_EQ(what.find("waited 0.4 s for rank 2; rank 2: step 0"), 0u) << what;
    }
    EXPECT_EQ(texts[0], "hello");
    EXPECT_THROW(channel->exchange({}, in, seconds(20)), Error);  // bytes would be out of step
    tired.count_down();
    plane->go("it gave up");
  });
  EXPECT_FALSE(outcomes[0]);
  EXPECT_TRUE(outcomes[1]);  // rank 2 is lost to all
  EXPECT_TRUE(outcomes[2]);
}

TEST(TcpWire, AWithdrawnChannelWaitsNoMore) {
  on_wires(2, [](HostPlane& plane, Wire& wire) {
    const auto channel = wire.open("all", {0, 1});
    std::byte byte{};
    const Incoming in{1 - plane.process().rank, {&byte, 1}};
    std::jthread later([&] {
      std::this_thread::sleep_for(milliseconds(30));
      channel->withdraw();
    });
    EXPECT_THROW(channel->exchange({}, {&in, 1}, seconds(60)), Error);
    later.join();
    plane.control().barrier("both gave up");
  });
}

// ---- collectives ----

TEST(TcpCommunicator, ADeadlineNamesTheCallAndWhereTheMissingRankIs) {
  std::atomic<int> told = 0;
  std::latch tired(2);
  Deadlines deadlines;
  deadlines.collective = milliseconds(800);
  deadlines.silence = seconds(2);  // a heartbeat every 0.2 s
  try {
    run_tcp_ranks(3, {.backend = CommBackend::Tcp, .deadlines = deadlines}, [&](World& world) {
      CommRank rank(world);
      world.watch().at_step(world.rank() == 2 ? 6 : 7);
      const Tensor tensor = rank.put(std::vector<float>(100000, 1.0f));
      if (world.rank() == 2) {
        tired.wait();
        return;
      }
      try {
        rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready()).wait();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Comm);
        EXPECT_EQ(error.rank(), 2);
        const std::string what = error.what();
        for (const char* word : {"all_reduce #1 (sum) of f32 (100000) on cpu among 0,1,2 at step 7",
                                 "waited 0.8 s for rank 2; rank 2: step 6"})
          EXPECT_NE(what.find(word), std::string::npos) << what;
        ++told;
        tired.count_down();
        throw;
      }
    });
    ADD_FAILURE() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.rank(), 2);
  }
  EXPECT_EQ(told, 2);
}

TEST(TcpCommunicator, AKilledProcessReleasesThoseInACollectiveWithIt) {
  const int port = rendezvous_port();
  const WorldOptions options{.backend = CommBackend::Tcp};
  const auto body = [&](World& world) {
    CommRank rank(world);
    const Tensor tensor = rank.put(std::vector<float>(1000000, 1.0f));
    for (int round = 0; round < 1000000; ++round)
      rank.comm().all_reduce(tensor, Reduce::Max, rank.ready()).wait();
  };
  const ChildRank child([&] { rank_launcher(tcp_process(1, 2, port), options)->run(body); });
  std::jthread killer([&] {
    std::this_thread::sleep_for(milliseconds(300));
    child.send(SIGKILL);
  });
  try {
    rank_launcher(tcp_process(0, 2, port), options)->run(body);
    ADD_FAILURE() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Comm);
    EXPECT_EQ(error.rank(), 1);
    EXPECT_NE(std::string(error.what()).find("rank 1 is lost"), std::string::npos) << error.what();
  }
}

TEST(TcpCommunicator, EachCallIsNotedInTheWatch) {
  run_tcp_ranks(2, {.backend = CommBackend::Tcp}, [](World& world) {
    CommRank rank(world);
    const Tensor tensor = rank.put(std::vector<float>(10, 1.0f));
    rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready()).wait();
    bool is_noted = false;
    for (const std::string& line : world.watch().last_records())
      is_noted = is_noted || line.starts_with("all_reduce #1 (sum) of f32 (10) on cpu among 0,1");
    EXPECT_TRUE(is_noted);
  });
}

TEST(ProcessWorld, OneRankAloneNeedsNoOther) {
  Process alone;
  alone.rendezvous = "nobody:1";
  rank_launcher(alone)->run([](World& world) {
    CommRank rank(world);
    const Tensor tensor = rank.put(std::vector<float>(10, 1.0f));
    rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready()).wait();
    EXPECT_EQ(world.size(), 1);
  });
}

}  // namespace
}  // namespace ingot::test
