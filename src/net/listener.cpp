#include "net/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/error/error.h"

namespace ingot::net {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Descriptor listen_at(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list);
  check(failed == 0, ErrorCode::Config,
        "--host {}: {}: give an address of this machine, such as "
        "127.0.0.1",
        host, gai_strerror(failed));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  int error = 0;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    Descriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int yes = 1;
    setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (socket && bind(socket.fd(), one->ai_addr, one->ai_addrlen) == 0 &&
        listen(socket.fd(), SOMAXCONN) == 0)
      return socket;
    error = errno;
  }
  check(error != EADDRINUSE, ErrorCode::Config,
        "port {} of {} is in use: give another --port, or 0 for any free one", port, host);
  throw Error(ErrorCode::Config, fmt::format("cannot listen at port {} of {}: {}: give another "
                                             "--port or --host",
                                             port, host, std::strerror(error)));
}

int port_of(const Descriptor& listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

bool is_loopback(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  if (inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six) != 0;
  return host == "localhost";
}

}  // namespace ingot::net
