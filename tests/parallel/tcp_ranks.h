// Ranks that meet over TCP on this machine, as threads of the test so that it sees what each does.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "core/error/error.h"
#include "parallel/comm/process/process_world.h"
#include "parallel/comm/tcp/socket.h"
#include "parallel/communicator_conformance.h"

namespace ingot::test {

// Nobody listens at it. Below the ports that connections are given, of which some other test's may
// have it when it is asked for.
inline int rendezvous_port() {
  static std::mt19937 random(std::random_device{}());
  for (;;) {
    const int port = std::uniform_int_distribution<int>(15000, 31999)(random);
    try {
      tcp::listen_at("127.0.0.1", port);
      return port;
    } catch (const Error&) {
    }
  }
}

inline Process tcp_process(int rank, int world, int port, Device device = Device::cpu()) {
  Process process{rank,
                  world,
                  /*local_rank=*/rank,
                  /*local_world=*/world,
                  device,
                  fmt::format("127.0.0.1:{}", port)};
  process.secret = "open sesame";
  return process;
}

// What each rank's run threw, by rank; null: nothing.
inline std::vector<std::exception_ptr> outcomes_of(int ranks, const std::function<void(int)>& run) {
  std::vector<std::exception_ptr> outcomes(static_cast<size_t>(ranks));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        run(rank);
      } catch (...) {
        outcomes[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  threads.clear();
  return outcomes;
}

// As run_local_ranks(): the failure of the rank that failed itself is rethrown.
inline void run_tcp_ranks(int ranks, const WorldOptions& options, const Body& body,
                          Device device = Device::cpu()) {
  const int port = rendezvous_port();
  const auto outcomes = outcomes_of(ranks, [&](int rank) {
    rank_launcher(tcp_process(rank, ranks, port, device), options)->run(body);
  });
  for (const bool of_others : {false, true})
    for (int rank = 0; rank < ranks; ++rank) {
      if (const auto& outcome = outcomes[static_cast<size_t>(rank)]) try {
          std::rethrow_exception(outcome);
        } catch (const Error& error) {
          if (of_others == (error.rank() != rank)) throw;
        }
    }
}

inline Backend tcp_backend(int ranks, Device device = Device::cpu()) {
  return {std::to_string(ranks), ranks, device, [=](const Body& body, const LaneDelay& delay) {
            run_tcp_ranks(ranks, {.backend = CommBackend::Tcp, .delay = delay}, body, device);
          }};
}

}  // namespace ingot::test
