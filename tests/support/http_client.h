// A client of HTTP servers that sees each byte.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace ingot::testing_support {

// A client that sends and receives bytes.
class Client {
 public:
  // `window`: bytes that the system receives ahead of the reader; 0: as many as it likes.
  explicit Client(int port, int window = 0) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (window > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &window, sizeof(window));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{20, 0};  // a test that fails ends
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }

  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }
  // Until `end` has come, or the connection has ended.
  std::string receive_until(std::string_view end) {
    while (received_.find(end) == std::string::npos) {
      char bytes[4096];
      const ssize_t count = recv(socket_, bytes, sizeof(bytes), 0);
      if (count <= 0) return std::exchange(received_, {});
      received_.append(bytes, static_cast<size_t>(count));
    }
    const size_t size = received_.find(end) + end.size();
    std::string part = received_.substr(0, size);
    received_.erase(0, size);
    return part;
  }
  // At most so many bytes, as soon as there are any; empty: the connection has ended.
  std::string receive_some(size_t most) {
    std::string bytes(most, '\0');
    const ssize_t count = recv(socket_, bytes.data(), most, 0);
    bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
    return bytes;
  }
  std::string receive_all() { return receive_until(std::string_view("\0no such thing", 14)); }
  // A whole request; `headers`: lines, each with its end.
  static std::string request(std::string_view method, std::string_view path,
                             std::string_view body = "", std::string_view headers = "") {
    std::string text(method);
    text.append(" ").append(path).append(" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    text.append(headers).append("Content-Length: ").append(std::to_string(body.size()));
    return text.append("\r\n\r\n").append(body);
  }
  std::string ask(std::string_view method, std::string_view path, std::string_view body = "",
                  std::string_view headers = "") {
    send(request(method, path, body, headers));
    return receive_all();
  }
  std::string get(std::string_view path) { return ask("GET", path); }

 private:
  int socket_;
  std::string received_;
};

}  // namespace ingot::testing_support
