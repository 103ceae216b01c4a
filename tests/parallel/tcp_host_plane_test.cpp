#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <future>
#include <latch>

#include "parallel/child_rank.h"
#include "parallel/comm/host_plane.h"
#include "parallel/comm/tcp/socket.h"
#include "parallel/tcp_ranks.h"

namespace ingot::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using PlaneBody = std::function<void(HostPlane&)>;

constexpr Deadlines kShort{.start = seconds(30),
                           .collective = seconds(30),
                           .save = seconds(30),
                           .validation = seconds(30),
                           .silence = seconds(30)};

// The body on a plane of each of `ranks` in a world of `world`; then it is done.
std::vector<std::exception_ptr> on_planes(int ranks, int world, const Deadlines& deadlines,
                                          const PlaneBody& body) {
  const int port = rendezvous_port();
  return outcomes_of(ranks, [&](int rank) {
    Watch watch;
    const auto plane = tcp_host_plane(tcp_process(rank, world, port), deadlines, watch);
    body(*plane);
    plane->go("");
  });
}

Error error_of(const std::exception_ptr& outcome) {
  try {
    if (outcome) std::rethrow_exception(outcome);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected an Error";
  return {ErrorCode::Internal, "none"};
}

void expect_none(const std::vector<std::exception_ptr>& outcomes) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank)
    if (outcomes[rank]) ADD_FAILURE() << "rank " << rank << ": " << error_of(outcomes[rank]).what();
}

Error error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected an Error";
  return {ErrorCode::Internal, "none"};
}

void expect_words(const Error& error, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
}

Error refused(const Process& process, Timeout start = seconds(20)) {
  Deadlines deadlines = kShort;
  deadlines.start = start;
  return error_of([&] {
    Watch watch;
    tcp_host_plane(process, deadlines, watch)->go("it should not have come in");
  });
}

// ---- who comes ----

TEST(TcpHostPlane, WhoDidNotStartIsNamedOnEveryRankThatDid) {
  Deadlines deadlines = kShort;
  deadlines.start = milliseconds(700);
  for (const auto& outcome : on_planes(2, 4, deadlines, [](HostPlane&) {})) {
    const Error error = error_of(outcome);
    EXPECT_EQ(error.code(), ErrorCode::Comm);
    EXPECT_EQ(error.rank(), 2);
    expect_words(error, {"start", "for ranks 2,3", "rank 2: has not connected",
                         "rank 3: has not connected"});
  }
}

TEST(TcpHostPlane, RanksMayStartInAnyOrder) {
  const int port = rendezvous_port();
  expect_none(outcomes_of(3, [&](int rank) {
    if (rank == 0) std::this_thread::sleep_for(milliseconds(200));
    Watch watch;
    const auto plane = tcp_host_plane(tcp_process(rank, 3, port), kShort, watch);
    EXPECT_EQ(plane->control().sum("ranks", rank), 3);
    plane->go("");
  }));
}

TEST(TcpHostPlane, MeetsOverIpv6) {
  const int port = rendezvous_port();
  expect_none(outcomes_of(2, [&](int rank) {
    Watch watch;
    Process process = tcp_process(rank, 2, port);
    process.rendezvous = fmt::format("[::1]:{}", port);
    const auto plane = tcp_host_plane(process, kShort, watch);
    EXPECT_EQ(plane->control().gather("ranks", std::to_string(rank)),
              (std::vector<std::string>{"0", "1"}));
    plane->go("");
  }));
}

// A run of two ranks, of which rank 1 comes only when `meanwhile` is over.
void while_rank_1_is_missing(const std::function<void(int port)>& meanwhile,
                             const Deadlines& deadlines = kShort) {
  const int port = rendezvous_port();
  expect_none(outcomes_of(2, [&](int rank) {
    if (rank == 1) meanwhile(port);
    Watch watch;
    const auto plane = tcp_host_plane(tcp_process(rank, 2, port), deadlines, watch);
    plane->control().barrier("together");
    plane->go("");
  }));
}

TEST(TcpHostPlane, AnotherSecretIsRefusedAtOnceAndHarmsNobody) {
  while_rank_1_is_missing([](int port) {
    Process other = tcp_process(1, 2, port);
    other.secret = "open barley";
    const Error error = refused(other);
    EXPECT_EQ(error.code(), ErrorCode::Config);
    expect_words(error, {"rank 1 was refused at 127.0.0.1:", "the secret there is another one"});
  });
}

TEST(TcpHostPlane, AnotherSecretIsToldByThoseWhoWaitForTheRank) {
  const int port = rendezvous_port();
  const auto outcomes = outcomes_of(2, [&](int rank) {
    Process process = tcp_process(rank, 2, port);
    Deadlines deadlines = kShort;
    deadlines.start = seconds(1);
    if (rank == 1) process.secret = "open barley";
    Watch watch;
    tcp_host_plane(process, deadlines, watch);
  });
  expect_words(error_of(outcomes[0]),
               {"rank 1: has not connected", "was refused: it has another secret"});
  EXPECT_EQ(error_of(outcomes[1]).code(), ErrorCode::Config);
}

TEST(TcpHostPlane, ARankThatIsThereAlreadyIsRefused) {
  const int port = rendezvous_port();
  expect_none(outcomes_of(2, [&](int rank) {
    Watch watch;
    const auto plane = tcp_host_plane(tcp_process(rank, 2, port), kShort, watch);
    if (rank == 0) {
      const Error error = refused(tcp_process(1, 2, port));
      EXPECT_EQ(error.code(), ErrorCode::Config);
      expect_words(error, {"rank 1 is here already: start every rank once"});
    }
    plane->go("");
  }));
}

TEST(TcpHostPlane, AWorldOfAnotherSizeIsRefused) {
  while_rank_1_is_missing([](int port) {
    const Error error = refused(tcp_process(1, 3, port));
    EXPECT_EQ(error.code(), ErrorCode::Config);
    expect_words(error, {"one of 3 ranks, rank 0 as one of 2"});
  });
}

TEST(TcpHostPlane, StrangersHarmNobody) {
  const auto until = [] { return tcp::Clock::now() + seconds(5); };
  while_rank_1_is_missing([&](int port) {
    std::vector<tcp::Socket> silent;
    for (int i = 0; i < 100; ++i)
      silent.push_back(tcp::connect_to("127.0.0.1", port, until()).socket);
    const tcp::Attempt loud = tcp::connect_to("127.0.0.1", port, until());
    const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    tcp::send_some(loud.socket, std::as_bytes(std::span(request)));
    // It is told nothing, and its connection is closed.
    std::byte answer[4096];
    int64_t got = 0;
    while (got >= 0) {
      pollfd wanted[] = {{loud.socket.fd(), POLLIN, 0}};
      tcp::poll_until(wanted, until());
      got = tcp::receive_some(loud.socket, answer);
      EXPECT_LE(got, 0);
    }
    silent.clear();
  });
}

TEST(TcpHostPlane, APortInUseIsAClearError) {
  const tcp::Socket taken = tcp::listen_at("127.0.0.1", 0);
  const Error error = refused(tcp_process(0, 2, tcp::port_of(taken)));
  EXPECT_EQ(error.code(), ErrorCode::Config);
  expect_words(error, {"the port is in use", "choose another port"});
}

TEST(TcpHostPlane, NobodyAtTheRendezvousIsAClearError) {
  const Error error = refused(tcp_process(1, 2, rendezvous_port()), milliseconds(300));
  EXPECT_EQ(error.code(), ErrorCode::Comm);
  expect_words(error, {"no rank answered at 127.0.0.1:", "refused", "firewall"});
}

// The system may give a connection the port that it goes to.
TEST(TcpHostPlane, AConnectionThatMeetsItselfIsNone) {
  const int port = rendezvous_port();
  const tcp::Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(bind(socket.fd(), any, sizeof address), 0);
  ASSERT_EQ(connect(socket.fd(), any, sizeof address), 0);
  EXPECT_TRUE(tcp::met_itself(socket));
  const tcp::Socket listener = tcp::listen_at("127.0.0.1", 0);
  const tcp::Attempt other =
      tcp::connect_to("127.0.0.1", tcp::port_of(listener), tcp::in_time(seconds(5)));
  EXPECT_FALSE(tcp::met_itself(other.socket));
}

TEST(TcpHostPlane, ANameThatDoesNotResolveIsAClearError) {
  Process process = tcp_process(1, 2, 1);
  process.rendezvous = "no such host:29500";
  const Error error = refused(process, milliseconds(300));
  EXPECT_EQ(error.code(), ErrorCode::Comm);
  expect_words(error, {"the name «no such host» does not resolve"});
}

TEST(TcpHostPlane, WhatIsNoAddressIsAClearError) {
  for (const char* text :
       {"", "host", "host:", ":29500", "host:70000", "host:1x", ",:1", "a,,b:1"}) {
    Process process = tcp_process(1, 2, 1);
    process.rendezvous = text;
    const Error error = refused(process);
    EXPECT_EQ(error.code(), ErrorCode::Config) << text;
    expect_words(error, {"expected HOST:PORT"});
  }
  EXPECT_EQ(tcp::parse_address("[fe80::1]:7").hosts, std::vector<std::string>{"fe80::1"});
  EXPECT_EQ(tcp::parse_address("a,b:7").str(), "a,b:7");
  EXPECT_EQ(tcp::parse_address("[::1]:7").str(), "[::1]:7");
}

// ---- meetings ----

TEST(TcpHostPlane, MeetingsGiveEveryRanksTextInOrder) {
  expect_none(on_planes(5, 5, kShort, [](HostPlane& plane) {
    const int rank = plane.process().rank;
    for (size_t round = 0; round < 20; ++round) {
      const auto texts = plane.control().gather(
          "texts", std::string(static_cast<size_t>(rank) * round * 1000, 'x'));
      for (size_t other = 0; other < 5; ++other)
        EXPECT_EQ(texts[other].size(), other * round * 1000);
    }
  }));
}

TEST(TcpHostPlane, RoundsOfDifferentNamesAreToldOnEveryRankAndDoNoHarm) {
  expect_none(on_planes(3, 3, kShort, [](HostPlane& plane) {
    const bool other = plane.process().rank == 1;
    const Error error = error_of([&] { plane.control().barrier(other ? "save" : "step"); });
    EXPECT_EQ(error.code(), ErrorCode::Internal);
    EXPECT_STREQ(error.what(),
                 "ranks meet for different things: rank 0 for «step», rank 1 for «save»");
    plane.control().barrier("end");
  }));
}

TEST(TcpHostPlane, ADeadlineNamesTheMeetingAndWhereTheMissingRankIs) {
  std::latch tired(2);
  const auto outcomes = on_planes(3, 3, kShort, [&](HostPlane& plane) {
    plane.watch().at_step(plane.process().rank == 2 ? 6 : 7);
    plane.control().barrier("step");
    if (plane.process().rank == 2) {
      tired.wait();
      plane.control().barrier("save");
      return;
    }
    // Rank 1 waits longer, and is released when rank 0 gave up.
    const Error error = error_of([&] {
      plane.control().barrier("save", plane.process().rank == 0 ? milliseconds(200) : seconds(20));
    });
    EXPECT_EQ(error.code(), ErrorCode::Comm);
    EXPECT_EQ(error.rank(), 2);
    expect_words(error, {"save #", "among 0,1,2 at step 7", "waited 0.2 s for rank 2; rank 2: step",
                         "heard 0."});
    tired.count_down();
    throw error;
  });
  for (const auto& outcome : outcomes) EXPECT_EQ(error_of(outcome).rank(), 2);
}

TEST(TcpHostPlane, ATextThatIsTooLongIsRefusedWhereItIsGiven) {
  expect_none(on_planes(2, 2, kShort, [](HostPlane& plane) {
    const std::string text(size_t{17} << 20, 'x');
    EXPECT_EQ(error_of([&] { plane.control().gather("texts", text); }).code(), ErrorCode::Internal);
    plane.control().barrier("end");
  }));
}

// ---- the board and states ----

TEST(TcpHostPlane, WhatIsPostedIsThereForAll) {
  expect_none(on_planes(3, 3, kShort, [](HostPlane& plane) {
    const int rank = plane.process().rank;
    if (rank == 1) plane.post("early", "worm");
    plane.control().barrier("posted");
    EXPECT_EQ(plane.await("early", seconds(20)), "worm");
    EXPECT_EQ(plane.await("early", seconds(20)), "worm");
    if (rank == 2) {
      plane.control().barrier("others wait");
      plane.post("late", std::string(100000, 'y'));
    } else {
      auto late = std::async(std::launch::async, [&] { return plane.await("late", seconds(20)); });
      plane.control().barrier("others wait");
      EXPECT_EQ(late.get(), std::string(100000, 'y'));
    }
    const Error error = error_of([&] { plane.await("never", milliseconds(20)); });
    EXPECT_EQ(error.code(), ErrorCode::Comm);
    expect_words(error, {"«never»"});
  }));
}

TEST(TcpHostPlane, ANameHasOneNumberOnAllRanks) {
  std::array<std::array<int64_t, 4>, 3> numbers{};
  expect_none(on_planes(3, 3, kShort, [&](HostPlane& plane) {
    auto& own = numbers[static_cast<size_t>(plane.process().rank)];
    for (const size_t i : {0, 1, 2, 3}) {
      const size_t name = plane.process().rank == 1 ? 3 - i : i;
      own[name] = plane.number_of(fmt::format("channel {}", name));
    }
    EXPECT_EQ(plane.number_of("channel 2"), own[2]);
  }));
  EXPECT_EQ(numbers[0], numbers[1]);
  EXPECT_EQ(numbers[0], numbers[2]);
  std::ranges::sort(numbers[0]);
  EXPECT_EQ(numbers[0], (std::array<int64_t, 4>{1, 2, 3, 4}));
}

TEST(TcpHostPlane, HeartbeatsTellWhereEveryRankIs) {
  Deadlines deadlines = kShort;
  deadlines.silence = seconds(2);  // a heartbeat every 0.2 s
  expect_none(on_planes(3, 3, deadlines, [](HostPlane& plane) {
    plane.watch().at_step(40 + plane.process().rank);
    const Watched watched(plane.watch(), "counting sheep");
    bool all_known = false;
    while (!all_known) {
      const auto states = plane.states();
      all_known = true;
      for (size_t rank = 0; rank < 3; ++rank) {
        const std::string text = fmt::format("step {}, in counting sheep", 40 + rank);
        all_known = all_known && states[rank].state.starts_with(text);
        EXPECT_LT(states[rank].age_seconds, 2);
      }
    }
    plane.control().barrier("all know");
  }));
}

// ---- who is lost ----

TEST(TcpHostPlane, WhyARankWentIsToldToAll) {
  const auto outcomes = on_planes(3, 3, kShort, [](HostPlane& plane) {
    plane.control().barrier("begin");
    if (plane.process().rank == 1) {
      plane.go("shard 7 is damaged");
      throw Error(ErrorCode::Data, "shard 7 is damaged");
    }
    const Error error = error_of([&] { plane.control().barrier("end"); });
    EXPECT_EQ(error.rank(), 1);
    expect_words(error, {"rank 1 is lost: shard 7 is damaged"});
    EXPECT_EQ(plane.lost()->rank, 1);
    throw error;
  });
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome);
}

TEST(TcpHostPlane, ARankThatRefusesTheRunIsNotCalledLost) {
  const auto outcomes = on_planes(3, 3, kShort, [](HostPlane& plane) {
    plane.control().barrier("begin");
    if (plane.process().rank == 2) {
      plane.go("the folder is used", /*culprit=*/-1, ErrorCode::Config);
      throw Error(ErrorCode::Config, "the folder is used");
    }
    const Error error = error_of([&] { plane.control().barrier("end"); });
    EXPECT_EQ(error.code(), ErrorCode::Config);
    EXPECT_EQ(error.rank(), 2);
    EXPECT_STREQ(error.what(), "rank 2 refuses the run: the folder is used");
    EXPECT_EQ(plane.lost()->code, ErrorCode::Config);
    throw error;
  });
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome);
}

TEST(TcpHostPlane, ARankThatReturnsWhileOthersWaitForItHearsOfIt) {
  const auto outcomes = on_planes(3, 3, kShort, [](HostPlane& plane) {
    if (plane.process().rank != 1) plane.control().barrier("end");
  });
  for (const auto& outcome : outcomes) {
    const Error error = error_of(outcome);
    EXPECT_EQ(error.code(), ErrorCode::Comm);
    EXPECT_EQ(error.rank(), 1);
    expect_words(error, {"it returned while other ranks wait for it"});
  }
}

TEST(TcpHostPlane, ARankThatIsDoneIsLostOnlyToThoseWhoNeedIt) {
  std::latch found(1);
  const auto outcomes = on_planes(3, 3, kShort, [&](HostPlane& plane) {
    if (plane.process().rank == 1) found.wait();
    if (plane.process().rank != 0) return;
    const int done[] = {2}, at_work[] = {0, 1};
    while (true) {
      EXPECT_FALSE(plane.lost(at_work));
      EXPECT_FALSE(plane.lost());
      if (plane.lost(done)) break;
    }
    EXPECT_EQ(plane.lost()->rank, 2);
    found.count_down();
  });
  for (const auto& outcome : outcomes) EXPECT_EQ(error_of(outcome).rank(), 2);
}

// One rank is a process; `meanwhile` is done to it once it takes part. What the other then fails
// with.
Error lost_child(const std::function<void(const ChildRank&)>& meanwhile, const Deadlines& deadlines,
                 int child_rank) {
  const int port = rendezvous_port();
  const ChildRank child([&] {
    Watch watch;
    const auto plane = tcp_host_plane(tcp_process(child_rank, 2, port), deadlines, watch);
    watch.at_step(5);
    plane->control().barrier("begin");
    plane->control().barrier("that the other rank does not come to");
  });
  Watch watch;
  const auto plane = tcp_host_plane(tcp_process(1 - child_rank, 2, port), deadlines, watch);
  plane->control().barrier("begin");
  meanwhile(child);
  const Error error = error_of([&] {
    while (true) {
      plane->throw_if_lost();
      std::this_thread::sleep_for(milliseconds(5));
    }
  });
  plane->go(error.what());
  EXPECT_EQ(error.code(), ErrorCode::Comm);
  EXPECT_EQ(error.rank(), child_rank);
  return error;
}

class ChildOf : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Rank, ChildOf, ::testing::Values(0, 1));

TEST_P(ChildOf, AKilledProcessIsNoticedAtOnce) {
  const auto begin = tcp::Clock::now();
  const Error error =
      lost_child([](const ChildRank& child) { child.send(SIGKILL); }, kShort, GetParam());
  expect_words(error, {fmt::format("rank {} is lost: ", GetParam()), "broke"});
  EXPECT_LT(tcp::Clock::now() - begin, kShort.silence);  // well before silence would tell
}

TEST_P(ChildOf, AProcessThatStandsStillIsLostWhenItWasSilentForTooLong) {
  Deadlines deadlines = kShort;
  deadlines.silence = seconds(1);
  const Error error =
      lost_child([](const ChildRank& child) { child.send(SIGSTOP); }, deadlines, GetParam());
  expect_words(error, {"nothing was heard of it for", "stands still"});
}

TEST(TcpHostPlane, AProcessThatStoodStillForLessGoesOn) {
  const int port = rendezvous_port();
  Deadlines deadlines = kShort;
  deadlines.silence = seconds(2);
  const ChildRank child([&] {
    Watch watch;
    const auto plane = tcp_host_plane(tcp_process(0, 2, port), deadlines, watch);
    plane->control().barrier("begin");
    plane->control().barrier("end");
    plane->go("");
  });
  Watch watch;
  const auto plane = tcp_host_plane(tcp_process(1, 2, port), deadlines, watch);
  plane->control().barrier("begin");
  child.send(SIGSTOP);
  std::this_thread::sleep_for(milliseconds(300));
  child.send(SIGCONT);
  EXPECT_NO_THROW(plane->control().barrier("end"));
  EXPECT_NO_THROW(plane->go(""));
}

}  // namespace
}  // namespace ingot::test
