// Sockets that never block: every wait is a poll with a deadline.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ingot::tcp {

using Clock = std::chrono::steady_clock;

// Now plus `time`, saturated so that it does not overflow.
inline Clock::time_point in_time(std::chrono::milliseconds time) {
  return Clock::now() + std::min<std::chrono::milliseconds>(time, std::chrono::hours(24 * 365));
}

// Owns a file descriptor: of a socket, or one that wakes a poll.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// "HOST:PORT", "[::1]:PORT", or with several names of one machine "HOST,HOST:PORT".
struct Address {
  std::vector<std::string> hosts;
  int port = 0;

  std::string str() const;
};
// Throws ErrorCode::Config if `text` is not an address.
Address parse_address(const std::string& text);

// Listens for connections to `host`: on loopback only if it is a loopback address, else on all
// addresses of the machine, since a machine often resolves its own name to another one. Port 0: any
// free port. Throws ErrorCode::Config if the port is in use or not permitted.
Socket listen_at(const std::string& host, int port);
int port_of(const Socket& listener);
// The next connection; an empty socket when there is none.
Socket accept_from(const Socket& listener);

// One attempt to connect to `host`. If the socket is empty, `why` is the reason.
struct Attempt {
  Socket socket;
  std::string why = {};
  bool unknown_name = false;  // the host's name does not resolve
};
Attempt connect_to(const std::string& host, int port, Clock::time_point deadline);
// If nobody listens, the system may connect a socket to its own port.
bool met_itself(const Socket& socket);

// The address of the other end, and of this end: "10.0.0.7"; empty if there is none.
std::string peer_host(const Socket& socket);
std::string own_host(const Socket& socket);
bool is_loopback(const std::string& host);  // "localhost", "127.…", "::1"
std::vector<std::string> machine_hosts();   // names and addresses of this machine, for others

std::pair<Socket, Socket> socket_pair();

// Bytes moved; 0 if it would block; -1 if the connection is closed (`errno` has the error, 0:
// closed by the other end).
int64_t send_some(const Socket& socket, std::span<const std::byte> bytes);
int64_t receive_some(const Socket& socket, std::span<std::byte> bytes);
std::string text_of_errno();  // "the other end closed the connection", "connection reset by peer"

// Waits until a socket is ready or the deadline has passed. A signal may end it early; callers
// loop.
void poll_until(std::span<pollfd> sockets, Clock::time_point deadline);

// Wakes a poll, from any thread.
class Waker {
 public:
  Waker();
  void wake();
  void drain();
  pollfd wanted() const { return {event_.fd(), POLLIN, 0}; }

 private:
  Socket event_;
};

}  // namespace ingot::tcp
