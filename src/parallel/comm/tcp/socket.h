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

// So much later; however long that is, it can be counted.
inline Clock::time_point in_time(std::chrono::milliseconds time) {
  return Clock::now() + std::min<std::chrono::milliseconds>(time, std::chrono::hours(24 * 365));
}

// Owns a file descriptor: of a socket, or of what wakes a poll.
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
// Throws ErrorCode::Config when `text` is none.
Address parse_address(const std::string& text);

// Listens where connections to `host` arrive: on this machine alone when that is a loopback
// address, else on all of its addresses, as a name often means another one on the machine itself.
// Port 0: a free one. Throws ErrorCode::Config when the port is in use or may not be used.
Socket listen_at(const std::string& host, int port);
int port_of(const Socket& listener);
// The next connection; an empty socket when there is none.
Socket accept_from(const Socket& listener);

// One attempt to reach `host`. An empty socket: `why` says what was in the way.
struct Attempt {
  Socket socket;
  std::string why = {};
  bool unknown_name = false;  // the host's name does not resolve
};
Attempt connect_to(const std::string& host, int port, Clock::time_point deadline);
// Where nobody listens, the system may give a connection the port that it goes to.
bool met_itself(const Socket& socket);

// Of the other end, and of this one: "10.0.0.7"; empty when it has none.
std::string peer_host(const Socket& socket);
std::string own_host(const Socket& socket);
bool is_loopback(const std::string& host);  // "localhost", "127.…", "::1"
std::vector<std::string> machine_hosts();   // names and addresses that others may reach this by

std::pair<Socket, Socket> socket_pair();

// Bytes moved, 0 when none can be just yet, -1 when the connection is over (`errno` says how, 0:
// the other end closed it).
int64_t send_some(const Socket& socket, std::span<const std::byte> bytes);
int64_t receive_some(const Socket& socket, std::span<std::byte> bytes);
std::string text_of_errno();  // "the other end closed the connection", "connection reset by peer"

// Waits until one of them is ready or the deadline has come. Signals do not end it early by more
// than a round of the caller's loop.
void poll_until(std::span<pollfd> sockets, Clock::time_point deadline);

// Makes a poll return, from any thread.
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
