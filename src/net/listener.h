// A listening socket.
#pragma once

#include <string>
#include <utility>

namespace ingot::net {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Listens at an address or a name of this machine; port 0: any free port. Throws ErrorCode::Config
// if the port is in use or not permitted, or the name is unknown.
Descriptor listen_at(const std::string& host, int port);
int port_of(const Descriptor& listener);
bool is_loopback(const std::string& host);  // "localhost", "127.…", "::1"

}  // namespace ingot::net
