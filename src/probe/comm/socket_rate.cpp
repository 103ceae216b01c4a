#include "probe/comm/socket_rate.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "core/error/error.h"
#include "core/system/timing.h"
#include "parallel/comm/tcp/socket.h"
#include "probe/comm/collective_rate.h"
#include "probe/host_facts.h"

namespace ingot {
namespace {

using tcp::Clock;
using tcp::Socket;
constexpr std::chrono::seconds kDefaultTimeout(20);
constexpr size_t kPiece = size_t{1} << 20;

// Names of this machine that the others reach: rank 0's as they were told, of another the address
// that it has towards rank 0.
std::vector<std::string> own_hosts(const Process& process) {
  std::vector<std::string> told = tcp::parse_address(process.rendezvous).hosts;
  if (process.rank == 0) return told;
  const std::string own = route_to(told.front()).from;
  return own.empty() || tcp::is_loopback(own) ? told : std::vector{own};
}

Socket connected_to(const tcp::Address& address, size_t rank) {
  std::string why;
  for (const std::string& host : address.hosts) {
    tcp::Attempt attempt = tcp::connect_to(host, address.port, Clock::now() + kDefaultTimeout);
    if (attempt.socket) return std::move(attempt.socket);
    why = attempt.why;
  }
  throw Error(ErrorCode::Comm,
              fmt::format("probe: rank {} is not reached at {}: {}", rank, address.str(), why));
}

Socket accepted_by(const Socket& listener) {
  const auto deadline = Clock::now() + kDefaultTimeout;
  while (Clock::now() < deadline) {
    if (Socket socket = tcp::accept_from(listener)) return socket;
    pollfd wanted{listener.fd(), POLLIN, 0};
    tcp::poll_until({&wanted, 1}, deadline);
  }
  throw Error(ErrorCode::Comm, "probe: the rank before this one did not come to its socket");
}

void expect_in_time(Clock::time_point deadline) {
  check(Clock::now() < deadline, ErrorCode::Comm,
        "probe: a plain socket between ranks was not served for {} s", kDefaultTimeout.count());
}

// Sends `bytes` while it receives as many, each on a thread of its own; the seconds until both are
// done.
double exchange(const Socket& out, const Socket& in, int64_t bytes) {
  const auto start = Clock::now();
  const auto deadline = start + kDefaultTimeout;
  const auto move = [&](const Socket& socket, short event, const auto& some) {
    std::vector<std::byte> piece(kPiece);
    for (int64_t left = bytes; left > 0;) {
      const auto most = static_cast<size_t>(std::min<int64_t>(left, int64_t{kPiece}));
      const int64_t count = some(socket, std::span(piece).first(most));
      check(count >= 0, ErrorCode::Comm, "probe: a plain socket between ranks broke: {}",
            tcp::text_of_errno());
      left -= count;
      if (count > 0) continue;
      expect_in_time(deadline);
      pollfd wanted{socket.fd(), event, 0};
      tcp::poll_until({&wanted, 1}, deadline);
    }
  };
  std::exception_ptr failure;
  {
    const std::jthread sender([&] {
      try {
        move(out, POLLOUT,
             [](const Socket& to, std::span<std::byte> b) { return tcp::send_some(to, b); });
      } catch (const Error&) {
        failure = std::current_exception();
      }
    });
    move(in, POLLIN, tcp::receive_some);
  }
  if (failure) std::rethrow_exception(failure);
  return seconds_since(start);
}

}  // namespace

double measure_socket_ring(World& world, double seconds) {
  const auto n = static_cast<size_t>(world.size()), me = static_cast<size_t>(world.rank());
  const std::vector<std::string> hosts = own_hosts(world.process());
  const Socket listener = tcp::listen_at(hosts.front(), 0);
  const auto places = world.control().gather("probe sockets: where",
                                             tcp::Address{hosts, tcp::port_of(listener)}.str());
  const size_t next = (me + 1) % n;
  const Socket out = connected_to(tcp::parse_address(places[next]), next);
  const Socket in = accepted_by(listener);
  // Everyone sends the same; it grows until it takes long enough, and the best of a few counts.
  double best = 0;
  int64_t bytes = int64_t{1} << 20;
  for (int repeats = 5; repeats > 0;) {
    const double took =
        agree_on_largest(world.control(), "probe sockets: time", exchange(out, in, bytes));
    best = std::max(best, static_cast<double>(bytes) / took);
    if (took < seconds / 4 && bytes < (int64_t{1} << 32))
      bytes *= 2;
    else
      --repeats;
  }
  return best;
}

}  // namespace ingot
