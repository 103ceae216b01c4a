#include "parallel/comm/tcp/socket.h"

#include <arpa/inet.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <thread>

#include "core/error/error.h"

namespace ingot::tcp {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// The resolver has time limits of its own (resolv.conf: by default two attempts of 5 s).
Addresses resolve(const char* host, int port, int flags, int* status) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  *status = getaddrinfo(host, std::to_string(port).c_str(), &hints, &list);
  return Addresses(*status == 0 ? list : nullptr);
}

std::string numeric_host(const sockaddr_storage& address, socklen_t length) {
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return {};
  char host[NI_MAXHOST];
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (getnameinfo(any, length, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) return {};
  const std::string text = host;
  const std::string mapped = "::ffff:";  // IPv4 through a socket of both
  return text.starts_with(mapped) ? text.substr(mapped.size()) : text;
}

void set_option(const Socket& socket, int level, int option, int value) {
  setsockopt(socket.fd(), level, option, &value, sizeof value);
}

// Small messages go at once; a peer that vanished without a word is noticed by the system too.
void tune(const Socket& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Socket try_to_listen(const addrinfo& at) {
  Socket socket(::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {};
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (at.ai_family == AF_INET6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  const bool ok =
      bind(socket.fd(), at.ai_addr, at.ai_addrlen) == 0 && listen(socket.fd(), SOMAXCONN) == 0;
  return ok ? std::move(socket) : Socket();
}

// A connection that leaves this machine may have taken the port for its own end.
constexpr auto kTimeOfPassersBy = std::chrono::milliseconds(500);

bool moved_nothing() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

void Socket::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::string Address::str() const {
  std::string text = fmt::format("{}", fmt::join(hosts, ","));
  if (hosts.size() == 1 && text.find(':') != std::string::npos) text = "[" + text + "]";
  return fmt::format("{}:{}", text, port);
}

Address parse_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  Address address;
  bool ok = colon != std::string::npos && colon > 0;
  if (ok) {
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    ok = error == std::errc() && last == end && address.port >= 0 && address.port <= 65535;
    for (size_t at = 0; ok && at < colon;) {
      const size_t comma = std::min(text.find(',', at), colon);
      std::string host = text.substr(at, comma - at);
      if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
      ok = !host.empty();
      address.hosts.push_back(std::move(host));
      at = comma + 1;
    }
  }
  check(ok, ErrorCode::Config, "rendezvous: expected HOST:PORT, got «{}»", text);
  return address;
}

Socket listen_at(const std::string& host, int port) {
  int status = 0;
  std::vector<Addresses> places;
  if (is_loopback(host)) {
    places.push_back(resolve(host.c_str(), port, 0, &status));
  } else {  // "::" takes IPv4 as well, where the machine has IPv6
    places.push_back(resolve("::", port, AI_PASSIVE | AI_NUMERICHOST, &status));
    places.push_back(resolve("0.0.0.0", port, AI_PASSIVE | AI_NUMERICHOST, &status));
  }
  const auto deadline = in_time(kTimeOfPassersBy);
  for (;;) {
    int failure = EADDRNOTAVAIL;
    for (const Addresses& list : places)
      for (const addrinfo* at = list.get(); at != nullptr; at = at->ai_next) {
        if (Socket socket = try_to_listen(*at)) return socket;
        if (failure != EADDRINUSE) failure = errno;
      }
    check(failure == EADDRINUSE, ErrorCode::Config,
          "rendezvous {}:{}: rank 0 cannot listen there ({}): choose another port, above 1023",
          host, port, std::strerror(failure));
    check(Clock::now() < deadline, ErrorCode::Config,
          "rendezvous {}:{}: the port is in use on this machine, by another run or program: choose "
          "another port",
          host, port);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

int port_of(const Socket& listener) {
  sockaddr_storage address = {};
  socklen_t length = sizeof address;
  getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &length);
  // The port is at the same place in addresses of both kinds.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

Socket accept_from(const Socket& listener) {
  Socket socket(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket) tune(socket);
  return socket;
}

Attempt connect_to(const std::string& host, int port, Clock::time_point deadline) {
  int status = 0;
  const Addresses list = resolve(host.c_str(), port, 0, &status);
  if (!list) {
    const bool unknown = status == EAI_NONAME;
    return {{}, fmt::format("the name «{}» does not resolve", host), unknown};
  }
  int failure = ETIMEDOUT;
  for (const addrinfo* at = list.get(); at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) {
      failure = errno;
      continue;
    }
    int error = 0;
    if (::connect(socket.fd(), at->ai_addr, at->ai_addrlen) != 0) {
      error = errno;
      if (error == EINPROGRESS || error == EINTR) {
        pollfd ready[] = {{socket.fd(), POLLOUT, 0}};
        while (Clock::now() < deadline && ready[0].revents == 0) poll_until(ready, deadline);
        socklen_t length = sizeof error;
        if (ready[0].revents == 0)
          error = ETIMEDOUT;
        else
          getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
      }
    }
    if (error == 0 && met_itself(socket)) error = ECONNREFUSED;
    if (error == 0) {
      tune(socket);
      return {std::move(socket)};
    }
    failure = error;
  }
  return {{}, std::strerror(failure)};
}

bool met_itself(const Socket& socket) {
  sockaddr_storage own = {}, other = {};
  socklen_t own_length = sizeof own, other_length = sizeof other;
  return getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&own), &own_length) == 0 &&
         getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&other), &other_length) == 0 &&
         own_length == other_length && std::memcmp(&own, &other, own_length) == 0;
}

std::string peer_host(const Socket& socket) {
  sockaddr_storage address = {};
  socklen_t length = sizeof address;
  if (getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return {};
  return numeric_host(address, length);
}

std::string own_host(const Socket& socket) {
  sockaddr_storage address = {};
  socklen_t length = sizeof address;
  if (getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return {};
  return numeric_host(address, length);
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::vector<std::string> machine_hosts() {
  std::vector<std::string> hosts;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) == 0) {
    for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
      if (at->ifa_addr == nullptr) continue;
      const bool small = at->ifa_addr->sa_family == AF_INET;
      if (!small && at->ifa_addr->sa_family != AF_INET6) continue;
      sockaddr_storage address = {};
      const socklen_t length = small ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
      std::memcpy(&address, at->ifa_addr, length);
      const std::string host = numeric_host(address, length);
      // Addresses of one link alone ("fe80::1%eth0") mean nothing on another machine.
      if (!host.empty() && !is_loopback(host) && host.find('%') == std::string::npos)
        hosts.push_back(host);
    }
    freeifaddrs(list);
  }
  hosts.push_back("localhost");  // the last: right where all ranks are on this machine
  return hosts;
}

std::pair<Socket, Socket> socket_pair() {
  int ends[2];
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0,
        ErrorCode::Internal, "socketpair: {}", std::strerror(errno));
  return {Socket(ends[0]), Socket(ends[1])};
}

int64_t send_some(const Socket& socket, std::span<const std::byte> bytes) {
  const ssize_t sent = send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 && moved_nothing() ? 0 : sent;
}

int64_t receive_some(const Socket& socket, std::span<std::byte> bytes) {
  if (bytes.empty()) return 0;
  const ssize_t got = recv(socket.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got == 0) {
    errno = 0;
    return -1;
  }
  return got < 0 && moved_nothing() ? 0 : got;
}

std::string text_of_errno() {
  return errno == 0 ? "the other end closed the connection" : std::strerror(errno);
}

void poll_until(std::span<pollfd> sockets, Clock::time_point deadline) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  const auto longest = milliseconds(std::chrono::hours(1));
  const auto wait = std::clamp(left, milliseconds(0), longest);
  for (pollfd& socket : sockets) socket.revents = 0;
  if (poll(sockets.data(), sockets.size(), static_cast<int>(wait.count())) < 0)
    check(errno == EINTR, ErrorCode::Internal, "poll: {}", std::strerror(errno));
}

Waker::Waker() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  check(static_cast<bool>(event_), ErrorCode::Internal, "eventfd: {}", std::strerror(errno));
}

void Waker::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = write(event_.fd(), &one, sizeof one);
}

void Waker::drain() {
  uint64_t count;
  [[maybe_unused]] const auto read = ::read(event_.fd(), &count, sizeof count);
}

}  // namespace ingot::tcp
