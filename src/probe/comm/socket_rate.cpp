#include "probe/comm/socket_rate.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "core/error.h"
#include "probe/host_facts.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;
constexpr time_t kPatienceSeconds = 20;  // of one wait
constexpr size_t kPiece = size_t{1} << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Socket {
 public:
  Socket(int descriptor, const std::string& what) : descriptor_(descriptor) {
    check(descriptor >= 0, ErrorCode::Comm, "probe: {}: {}", what, std::strerror(errno));
    const timeval patience{kPatienceSeconds, 0};
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
      setsockopt(descriptor, SOL_SOCKET, option, &patience, sizeof patience);
  }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::unique_ptr<addrinfo, void (*)(addrinfo*)> resolve_address(const std::string& host,
                                                               const std::string& port) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  check(getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) == 0, ErrorCode::Comm,
        "probe: expected an address, got {}", host);
  return {found, freeaddrinfo};
}

// Of this machine towards the rendezvous: the others reach it there.
std::string own_address(const Process& process) {
  const size_t colon = process.rendezvous.rfind(':');
  const Route route =
      colon == std::string::npos ? Route{} : route_to(process.rendezvous.substr(0, colon));
  return route.from.empty() ? "127.0.0.1" : route.from;
}

}  // namespace

double measure_socket_ring(World& world, double seconds) {
  const auto n = static_cast<size_t>(world.size()), me = static_cast<size_t>(world.rank());
  const std::string address = own_address(world.process());
  const auto own = resolve_address(address, "0");
  const Socket listener(socket(own->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), "a socket");
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  char port[16] = "";
  check(bind(listener.get(), own->ai_addr, own->ai_addrlen) == 0 &&
            listen(listener.get(), 4) == 0 &&
            getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0 &&
            getnameinfo(reinterpret_cast<sockaddr*>(&bound), size, nullptr, 0, port, sizeof port,
                        NI_NUMERICSERV) == 0,
        ErrorCode::Comm, "probe: listening at {}: {}", address, std::strerror(errno));

  // Whoever else connects does not know the word.
  const std::string word = fmt::format("{:016x}", std::random_device{}() * 0x9e3779b97f4a7c15u);
  const auto places =
      world.control().gather("probe sockets: where", address + " " + port + " " + word);
  const auto field = [&](size_t rank, int which) {
    const std::string& text = places[rank];
    const size_t first = text.find(' '), second = text.find(' ', first + 1);
    if (which == 0) return text.substr(0, first);
    return which == 1 ? text.substr(first + 1, second - first - 1) : text.substr(second + 1);
  };
  const size_t next = (me + 1) % n;
  const auto target = resolve_address(field(next, 0), field(next, 1));
  const Socket out(socket(target->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), "a socket");
  const std::string& their_word = field(next, 2);
  check(connect(out.get(), target->ai_addr, target->ai_addrlen) == 0 &&
            send(out.get(), their_word.data(), their_word.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(their_word.size()),
        ErrorCode::Comm, "probe: rank {} at {} is not reached: {}", next, field(next, 0),
        std::strerror(errno));
  const Socket in(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC),
                  "nobody came to the socket");
  std::string heard(word.size(), '\0');
  check(recv(in.get(), heard.data(), heard.size(), MSG_WAITALL) ==
                static_cast<ssize_t>(heard.size()) &&
            heard == word,
        ErrorCode::Comm, "probe: a stranger came to the socket at {}", address);

  world.control().barrier("probe sockets: connected");
  std::jthread sender([&] {
    const std::vector<char> piece(kPiece, 'x');
    for (const auto start = Clock::now(); seconds_since(start) < seconds;)
      if (send(out.get(), piece.data(), piece.size(), MSG_NOSIGNAL) <= 0) break;
    shutdown(out.get(), SHUT_WR);
  });
  std::vector<char> piece(kPiece);
  double received = 0;
  const auto start = Clock::now();
  for (ssize_t count = 1; count > 0;) {
    count = recv(in.get(), piece.data(), piece.size(), 0);
    received += static_cast<double>(std::max<ssize_t>(0, count));
  }
  const double own_rate = received / seconds_since(start);
  sender.join();
  double slowest = own_rate;
  for (const std::string& text :
       world.control().gather("probe sockets: rate", fmt::format("{:.17g}", own_rate)))
    slowest = std::min(slowest, std::strtod(text.c_str(), nullptr));
  check(slowest > 0, ErrorCode::Comm, "probe: a socket between ranks carried nothing");
  return slowest;
}

}  // namespace ingot
