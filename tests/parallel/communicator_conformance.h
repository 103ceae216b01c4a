// What every communicator must hold, whatever carries it: run it on a backend with
//
//   class MyRanks : public CommunicatorConformance {};
//   TEST_P(MyRanks, Holds) { hold(); }
//   INSTANTIATE_TEST_SUITE_P(Promises, MyRanks, promises_on({my_backend(2), my_backend(3)}),
//                            promise_name);
//
// Where ranks are processes, all run the same tests in the same order, each with its own body.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "core/error/error.h"
#include "parallel/conformance_rank.h"

namespace ingot::test {

// ---- the promises ----

inline void all_reduce_leaves_the_same_on_all_ranks(const Backend& backend) {
  backend([&](World& world) {
    CommRank rank(world);
    for_reducible_dtypes(
        [&](auto zero) {
          using T = decltype(zero);
          for (const Reduce reduce : {Reduce::Sum, Reduce::Max})
            for (const int64_t n : kSizes) {
              rank.forget();
              const Tensor tensor = rank.put(numbers<T>(rank.rank(), n));
              rank.comm().all_reduce(tensor, reduce, rank.ready()).wait();
              const std::vector<T> got = rank.get<T>(tensor);
              EXPECT_TRUE(is_reduced(backend, got, first_ranks(rank.size()), reduce))
                  << label<T>("all_reduce", n, rank);
              expect_equal_everywhere(world, got);
            }
        },
        backend.can.unreduced);
  });
}

// Sums that are exact in any order.
inline void whole_numbers_add_up_exactly(const Backend& backend) {
  backend([&](World& world) {
    CommRank rank(world);
    const auto value = [](int r, int64_t i) { return static_cast<int>((7 * i + 5 * r + 3) % 29); };
    for_reducible_dtypes(
        [&](auto zero) {
          using T = decltype(zero);
          const auto of = [](int number) {
            return Numbers<T>::cut(static_cast<typename Numbers<T>::Acc>(number));
          };
          constexpr int64_t kLength = 5003;
          std::vector<T> own, expected;
          for (int64_t i = 0; i < kLength; ++i) {
            int total = 0;
            for (int r = 0; r < rank.size(); ++r) total += value(r, i);
            own.push_back(of(value(rank.rank(), i)));
            expected.push_back(of(total));
          }
          rank.forget();
          const Tensor tensor = rank.put(own);
          rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready()).wait();
          EXPECT_TRUE(same_bits(rank.get<T>(tensor), expected)) << label<T>("sum", kLength, rank);
        },
        backend.can.unreduced);
  });
}

inline void reduce_scatter_gives_each_rank_its_part(const Backend& backend) {
  backend([&](World& world) {
    CommRank rank(world);
    for_reducible_dtypes(
        [&](auto zero) {
          using T = decltype(zero);
          for (const Reduce reduce : {Reduce::Sum, Reduce::Max})
            for (const int64_t n : kSizes)
              for (const bool in_place : {false, true}) {
                rank.forget();
                std::vector<T> expected = numbers<T>(rank.rank(), n * rank.size());
                const int64_t begin = rank.rank() * n;
                const Tensor whole = rank.put(expected);
                const Tensor part = in_place ? whole.slice(0, begin, begin + n)
                                             : rank.put(std::vector<T>(static_cast<size_t>(n)));
                rank.comm().reduce_scatter(whole, part, reduce, rank.ready()).wait();
                const std::vector<T> own = rank.get<T>(part);
                EXPECT_TRUE(is_reduced(backend, own, first_ranks(rank.size()), reduce, begin))
                    << label<T>("reduce_scatter", n, rank);
                if (in_place) std::copy(own.begin(), own.end(), expected.begin() + begin);
                EXPECT_TRUE(same_bits(rank.get<T>(whole), expected))
                    << label<T>("the whole of a reduce_scatter", n, rank);
              }
        },
        backend.can.unreduced);
  });
}

inline void all_gather_takes_any_dtype(const Backend& backend) {
  backend([&](World& world) {
    CommRank rank(world);
    const auto gather = [&](auto zero) {
      using T = decltype(zero);
      for (const int64_t n : kSizes)
        for (const bool in_place : {false, true}) {
          rank.forget();
          std::vector<T> expected(static_cast<size_t>(n * rank.size()));
          for (int64_t i = 0; i < n * rank.size(); ++i)
            std::memset(static_cast<void*>(&expected[static_cast<size_t>(i)]),
                        static_cast<int>(16 + i / n), sizeof(T));
          std::vector<T> own(expected.begin() + rank.rank() * n,
                             expected.begin() + (rank.rank() + 1) * n);
          std::vector<T> before(expected.size());
          if (in_place) std::copy(own.begin(), own.end(), before.begin() + rank.rank() * n);
          const Tensor whole = rank.put(before);
          const Tensor part =
              in_place ? whole.slice(0, rank.rank() * n, (rank.rank() + 1) * n) : rank.put(own);
          rank.comm().all_gather(part, whole, rank.ready()).wait();
          EXPECT_TRUE(same_bits(rank.get<T>(whole), expected)) << label<T>("all_gather", n, rank);
        }
    };
    for_reducible_dtypes(gather);
    gather(F8E4M3{});
    gather(F8E5M2{});
  });
}

inline void broadcast_copies_the_root(const Backend& backend) {
  backend([&](World& world) {
    CommRank rank(world);
    for (int root = 0; root < rank.size(); ++root)
      for (const int64_t n : kSizes) {
        rank.forget();
        const Tensor tensor = rank.put(numbers<float>(rank.rank(), n));
        rank.comm().broadcast(tensor, root, rank.ready()).wait();
        EXPECT_TRUE(same_bits(rank.get<float>(tensor), numbers<float>(root, n)))
            << label<float>("broadcast", n, rank);
      }
  });
}

// More than a backend sends at once, and parts that it does not divide.
inline void large_tensors_arrive_whole(const Backend& backend) {
  backend([&](World& world) {
    CommRank rank(world);
    Communicator& comm = rank.comm();
    const int64_t ranks = rank.size(), part = 1500017 / ranks;
    const auto everyone = first_ranks(rank.size());
    const auto own = numbers<float>(rank.rank(), part * ranks);
    const Tensor sums = rank.put(own), whole = rank.put(own);
    const Tensor mine = whole.slice(0, rank.rank() * part, (rank.rank() + 1) * part);
    const Ticket ready = rank.ready();
    comm.all_reduce(sums, Reduce::Sum, ready);
    comm.reduce_scatter(whole, mine, Reduce::Sum, ready);
    comm.all_gather(mine, whole, {}).wait();
    EXPECT_TRUE(is_reduced(backend, rank.get<float>(sums), everyone, Reduce::Sum));
    EXPECT_TRUE(is_reduced(backend, rank.get<float>(whole), everyone, Reduce::Sum));
    copy_from_host(rank.ctx(), own.data(), sums);
    comm.broadcast(sums, rank.size() - 1, rank.ready()).wait();
    const auto last = numbers<float>(rank.size() - 1, part * ranks);
    EXPECT_TRUE(same_bits(rank.get<float>(sums), last));
    // Round the ring, both directions at once where there are two.
    copy_from_host(rank.ctx(), own.data(), whole);
    const int right = (rank.rank() + 1) % rank.size();
    const int left = (rank.rank() + rank.size() - 1) % rank.size();
    const Ticket sent = comm.send(whole, right, rank.ready());
    comm.recv(sums, left, rank.ready()).wait();
    sent.wait();
    EXPECT_TRUE(same_bits(rank.get<float>(sums), numbers<float>(left, part * ranks)));
  });
}

// Everybody sends to both neighbours before it receives anything.
inline void sends_match_their_receives_in_order(const Backend& backend) {
  backend([&](World& world) {
    CommRank rank(world);
    const int right = (rank.rank() + 1) % rank.size();
    const int left = (rank.rank() + rank.size() - 1) % rank.size();
    constexpr int kMessages = 5;
    constexpr int64_t kLength = 1003;
    std::vector<Ticket> tickets;
    std::vector<Tensor> from_left, from_right;
    for (int message = 0; message < kMessages; ++message)
      for (const int to : {right, left}) {
        const Tensor tensor = rank.put(numbers<int32_t>(100 * rank.rank() + message, kLength));
        tickets.push_back(rank.comm().send(tensor, to, rank.ready()));
      }
    for (int message = 0; message < kMessages; ++message) {
      // With two ranks both neighbours are the same one, who sent every message twice.
      for (auto [from, into] : {std::pair{left, &from_left}, std::pair{right, &from_right}}) {
        into->push_back(rank.put(std::vector<int32_t>(kLength)));
        tickets.push_back(rank.comm().recv(into->back(), from, rank.ready()));
      }
    }
    for (const Ticket& ticket : tickets) ticket.wait();
    for (int message = 0; message < kMessages; ++message)
      for (const auto& [from, into] : {std::pair{left, &from_left}, std::pair{right, &from_right}})
        EXPECT_EQ(rank.get<int32_t>((*into)[static_cast<size_t>(message)]),
                  numbers<int32_t>(100 * from + message, kLength));
  });
}

// Ranks of one parity, twice over, while all ranks have a collective of their own.
inline void subgroups_keep_to_themselves(const Backend& backend) {
  backend([&](World& world) {
    CommRank rank(world);
    std::vector<int> group;
    for (int r = rank.rank() % 2; r < rank.size(); r += 2) group.push_back(r);
    constexpr int64_t kLength = 5003;
    const auto first = world.communicator(group, rank.ctx());
    const auto second = world.communicator(group, rank.ctx());
    EXPECT_EQ(first->size(), static_cast<int>(group.size()));
    EXPECT_EQ(group[static_cast<size_t>(first->rank())], rank.rank());
    const Tensor all = rank.put(numbers<float>(rank.rank(), kLength));
    const Tensor ours = rank.put(numbers<float>(rank.rank(), kLength));
    const Tensor most = rank.put(numbers<float>(rank.rank(), kLength));
    const Ticket ready = rank.ready();
    // Issued in another order on every other rank: they are different groups.
    std::vector<Ticket> tickets;
    if (rank.rank() % 2 == 0) tickets.push_back(rank.comm().all_reduce(all, Reduce::Sum, ready));
    tickets.push_back(second->all_reduce(most, Reduce::Max, ready));
    tickets.push_back(first->all_reduce(ours, Reduce::Sum, ready));
    if (rank.rank() % 2 == 1) tickets.push_back(rank.comm().all_reduce(all, Reduce::Sum, ready));
    for (const Ticket& ticket : tickets) ticket.wait();
    const auto everyone = first_ranks(rank.size());
    EXPECT_TRUE(is_reduced(backend, rank.get<float>(all), everyone, Reduce::Sum));
    EXPECT_TRUE(is_reduced(backend, rank.get<float>(ours), group, Reduce::Sum));
    EXPECT_TRUE(is_reduced(backend, rank.get<float>(most), group, Reduce::Max));
    const std::vector<int> without = {(rank.rank() + 1) % rank.size()};
    EXPECT_THROW(world.communicator(without, rank.ctx()), Error);
  });
}

// Each waits for the one before by the order of calls alone.
inline void many_calls_may_be_in_flight(const Backend& backend) {
  backend([&](World& world) {
    CommRank rank(world);
    constexpr int64_t kPart = 17;
    const int64_t ranks = rank.size();
    const Tensor whole = rank.put(std::vector<int64_t>(static_cast<size_t>(kPart * ranks), 1));
    const Tensor part = whole.slice(0, rank.rank() * kPart, (rank.rank() + 1) * kPart);
    int64_t expected = 1;
    Ticket last = rank.ready();
    for (int round = 0; round < 100; ++round) {
      rank.comm().reduce_scatter(whole, part, Reduce::Sum, last);
      last = rank.comm().all_gather(part, whole, {});
      expected = expected * ranks % 1000003;
      // Kept small by hand, behind the ticket.
      if (round % 10 == 9) {
        last.wait();
        std::vector<int64_t> values = rank.get<int64_t>(whole);
        for (int64_t& value : values) value %= 1000003;
        EXPECT_EQ(values, std::vector<int64_t>(values.size(), expected));
        copy_from_host(rank.ctx(), values.data(), whole);
        last = rank.ready();
      }
    }
    last.wait();
  });
}

// A chain over three lanes, each delayed at random: compute, the communicator's, one more.
inline void tickets_alone_keep_the_order(const Backend& backend) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const LaneDelay delay{seed, std::chrono::microseconds(1500)};
    backend.run(
        [&](World& world) {
          CommRank rank(world);
          const auto own = static_cast<uint64_t>(rank.rank());
          const auto compute = compute_lane(rank.ctx(), {seed + 100 * own, delay.most});
          const auto side =
              side_lane(rank.ctx(), {.threads = 1, .delay = {seed + 100 * own + 50, delay.most}});
          constexpr int64_t kLength = 30011;
          const auto values = numbers<float>(rank.rank(), kLength);
          const Tensor source = rank.put(values);
          const Tensor tensor = rank.put(std::vector<float>(kLength));
          const Tensor result = rank.put(std::vector<float>(kLength));
          Ticket kept = rank.ready();
          for (int round = 0; round < 4; ++round) {
            compute->after(kept);
            compute->issue([=](Context& ctx) { fill(ctx, -1.0f, tensor); });
            compute->issue([=](Context& ctx) { copy(ctx, source, tensor); });
            const Ticket sum = rank.comm().all_reduce(tensor, Reduce::Sum, compute->mark("values"));
            side->after(sum);
            side->issue([=](Context& ctx) { copy(ctx, tensor, result); });
            kept = side->mark("kept");
          }
          kept.wait();
          EXPECT_TRUE(
              is_reduced(backend, rank.get<float>(result), first_ranks(rank.size()), Reduce::Sum))
              << "seed " << seed << " rank " << rank.rank();
        },
        delay);
  }
}

// The error that the run ends with, in this process.
inline Error error_of(const Backend& backend, const Body& body) {
  try {
    backend(body);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected an Error";
  return {ErrorCode::Internal, "none"};
}

inline void a_failed_rank_releases_the_others(const Backend& backend) {
  std::atomic<int> released = 0;
  const int bad = backend.ranks - 1;
  const Error error = error_of(backend, [&](World& world) {
    CommRank rank(world);
    const Tensor tensor = rank.put(std::vector<float>(100, 1.0f));
    rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready()).wait();
    if (rank.rank() == bad) throw Error(ErrorCode::Data, "shard 7 is damaged");
    const Ticket first = rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready());
    const Ticket second = rank.comm().broadcast(tensor, 0, {});
    for (const Ticket& ticket : {second, first}) {  // no later one is carried out either
      try {
        ticket.wait();
        ADD_FAILURE() << "rank " << rank.rank() << " was not released";
      } catch (const Error& mine) {
        EXPECT_EQ(mine.code(), ErrorCode::Comm);
        EXPECT_EQ(mine.rank(), bad);
        const std::string text = mine.what();
        EXPECT_NE(text.find("all_reduce #2 (sum) of f32 (100)"), std::string::npos) << text;
        EXPECT_NE(text.find("shard 7 is damaged"), std::string::npos) << text;
      }
    }
    EXPECT_EQ(rank.get<float>(tensor), std::vector<float>(100, static_cast<float>(rank.size())));
    ++released;
    first.wait();
  });
  const int others = backend.own_rank < 0 ? backend.ranks - 1 : backend.is_here(bad) ? 0 : 1;
  EXPECT_EQ(released, others);
  EXPECT_EQ(error.code(), backend.is_here(bad) ? ErrorCode::Data : ErrorCode::Comm);
  EXPECT_EQ(error.rank(), bad);
}

inline void different_calls_are_refused(const Backend& backend) {
  const int last = backend.ranks - 1;
  const auto refused = [&](const std::function<Ticket(CommRank&, const Tensor&)>& call,
                           const std::vector<std::string>& words) {
    const Error error = error_of(backend, [&](World& world) {
      CommRank rank(world);
      call(rank, rank.put(std::vector<float>(8, 1.0f))).wait();
      ADD_FAILURE() << "rank " << rank.rank() << " went on";
    });
    // A process may first hear of another that found it.
    const bool heard = backend.own_rank >= 0 && error.code() == ErrorCode::Comm;
    EXPECT_TRUE(heard || error.code() == ErrorCode::Internal) << error.what();
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  };
  refused(
      [&](CommRank& rank, const Tensor& t) {
        return rank.rank() == last ? rank.comm().broadcast(t, 0, rank.ready())
                                   : rank.comm().all_reduce(t, Reduce::Sum, rank.ready());
      },
      {"rank 0 all_reduce #1 (sum) of f32 (8)",
       "rank " + std::to_string(last) + " broadcast #1 from 0 of f32 (8)"});
  refused(
      [&](CommRank& rank, const Tensor& t) {
        const Tensor own = t.slice(0, 0, rank.rank() == last ? 5 : 4);
        return rank.comm().all_reduce(own, Reduce::Sum, rank.ready());
      },
      {"f32 (4)", "f32 (5)"});
  refused(
      [&](CommRank& rank, const Tensor& t) {
        return rank.comm().broadcast(t, rank.rank() == last ? 1 : 0, rank.ready());
      },
      {"from 0", "from 1"});
  refused(
      [&](CommRank& rank, const Tensor& t) {
        const Reduce reduce = rank.rank() == last ? Reduce::Max : Reduce::Sum;
        return rank.comm().all_reduce(t, reduce, rank.ready());
      },
      {"(sum)", "(max)"});
}

inline void wrong_arguments_are_refused_at_the_call(const Backend& backend) {
  backend([&](World& world) {
    CommRank rank(world);
    Communicator& comm = rank.comm();
    const auto refused = [&](const char* what, const std::function<void()>& call) {
      try {
        call();
        ADD_FAILURE() << what << " was accepted";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Internal) << what;
      }
    };
    const int64_t ranks = rank.size();
    const Tensor whole = rank.put(std::vector<float>(static_cast<size_t>(4 * ranks + 4)));
    const Tensor fits = whole.slice(0, 0, 4 * ranks);
    const Tensor part = rank.put(std::vector<float>(4));
    const Tensor bytes = rank.put(std::vector<F8E4M3>(4));
    Tensor strided = whole;
    strided.shape = {2};
    strided.strides = {2};
    Tensor elsewhere = part;
    elsewhere.device = Device{DeviceKind::Cuda, 7};
    refused("a sum of f8", [&] { comm.all_reduce(bytes, Reduce::Sum, {}); });
    refused("a strided tensor", [&] { comm.all_reduce(strided, Reduce::Sum, {}); });
    refused("memory of another device", [&] { comm.broadcast(elsewhere, 0, {}); });
    refused("parts that do not fill", [&] { comm.all_gather(part, whole, {}); });
    refused("two dtypes", [&] { comm.all_gather(bytes, fits, {}); });
    const int64_t other = (4 * rank.rank() + 2) % (4 * ranks);
    refused("an overlap", [&] { comm.all_gather(whole.slice(0, other, other + 4), fits, {}); });
    refused("a root that is not there", [&] { comm.broadcast(part, rank.size(), {}); });
    refused("a negative root", [&] { comm.broadcast(part, -1, {}); });
    refused("a message to itself", [&] { comm.send(part, rank.rank(), {}); });
    refused("a message from nobody", [&] { comm.recv(part, rank.size(), {}); });
    comm.all_gather(part, fits, rank.ready()).wait();  // none of it did harm
  });
}

inline void a_communicator_may_go_with_calls_in_flight(const Backend& backend) {
  const Error error = error_of(backend, [&](World& world) {
    {
      CommRank rank(world);
      const Tensor tensor = rank.put(std::vector<float>(100, 1.0f));
      if (rank.rank() == 0) rank.comm().all_reduce(tensor, Reduce::Sum, rank.ready());
    }
    if (world.rank() > 0) world.control().barrier("that rank 0 never comes to");
  });
  EXPECT_EQ(error.code(), ErrorCode::Comm);
  EXPECT_EQ(error.rank(), 0);
}

// ---- as parameters of a test ----

struct Promise {
  std::string name;
  int least_ranks;
  void (*hold)(const Backend&);
  bool Abilities::*needs = nullptr;  // null: every backend holds it
  friend void PrintTo(const Promise& promise, std::ostream* out) { *out << promise.name; }
};

inline std::vector<Promise> all_promises() {
  return {
      {"AllReduceLeavesTheSameOnAllRanks", 1, all_reduce_leaves_the_same_on_all_ranks},
      {"WholeNumbersAddUpExactly", 1, whole_numbers_add_up_exactly},
      {"ReduceScatterGivesEachRankItsPart", 1, reduce_scatter_gives_each_rank_its_part},
      {"AllGatherTakesAnyDtype", 1, all_gather_takes_any_dtype},
      {"BroadcastCopiesTheRoot", 1, broadcast_copies_the_root},
      {"LargeTensorsArriveWhole", 2, large_tensors_arrive_whole},
      {"ManyCallsMayBeInFlight", 1, many_calls_may_be_in_flight},
      {"TicketsAloneKeepTheOrder", 1, tickets_alone_keep_the_order},
      {"WrongArgumentsAreRefusedAtTheCall", 1, wrong_arguments_are_refused_at_the_call},
      {"SendsMeetTheirReceivesInOrder", 2, sends_match_their_receives_in_order},
      {"SubgroupsKeepToThemselves", 2, subgroups_keep_to_themselves},
      {"AFailedRankReleasesTheOthers", 2, a_failed_rank_releases_the_others, &Abilities::releases},
      {"DifferentCallsAreRefused", 2, different_calls_are_refused, &Abilities::compares_calls},
      {"ACommunicatorMayGoWithCallsInFlight", 2, a_communicator_may_go_with_calls_in_flight}};
}

using PromiseOn = std::tuple<Backend, Promise>;

class CommunicatorConformance : public ::testing::TestWithParam<PromiseOn> {
 protected:
  void hold() const { std::get<Promise>(GetParam()).hold(std::get<Backend>(GetParam())); }
};

inline auto promises_on(const std::vector<Backend>& backends) {
  std::vector<PromiseOn> all;
  for (const Backend& backend : backends)
    for (const Promise& promise : all_promises()) {
      const bool able = promise.needs == nullptr || backend.can.*promise.needs;
      if (able && backend.ranks >= promise.least_ranks) all.emplace_back(backend, promise);
    }
  return ::testing::ValuesIn(all);
}

inline std::string promise_name(const ::testing::TestParamInfo<PromiseOn>& info) {
  return std::get<Promise>(info.param).name + "On" + std::get<Backend>(info.param).name;
}

inline Backend local_backend(int ranks, Device device) {
  return {std::to_string(ranks), ranks, device, [=](const Body& body, const LaneDelay& delay) {
            run_local_ranks(ranks, device, body, {.delay = delay});
          }};
}

inline Backend single_backend(Device device) {
  return {"One", 1, device, [=](const Body& body, const LaneDelay&) {
            const auto world = single_world(device);
            body(*world);
          }};
}

}  // namespace ingot::test
