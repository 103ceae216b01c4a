// One client of a server, between its socket and its requests.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "net/http_server.h"
#include "net/listener.h"

namespace ingot::net {

using Clock = std::chrono::steady_clock;

class Connection {
 public:
  // Any thread calls `wake` when a reply of this connection has something to write.
  Connection(Descriptor socket, const ServerOptions& options, const HttpHandler& handler,
             std::function<void()> wake);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return socket_.fd(); }
  // Reads, handles and writes as much as it can without waiting. `can_read`: the socket has bytes,
  // or the client has closed its half.
  void advance(bool can_read, bool has_hung_up);
  // Ends a request or a reply that takes too long; returns true if it did: then call advance().
  bool check_time(Clock::time_point now);
  // Closes after the reply that is being written; at once if there is none.
  void drain();
  // Replies with the problem and closes.
  void refuse(const HttpProblem& problem);

  bool is_over() const { return stage_ == Stage::Over; }
  bool wants_to_read() const { return stage_ == Stage::Reading || stage_ == Stage::Lingering; }
  bool wants_to_write() const { return !out_.empty(); }

 private:
  // Lingering: discards what the client still sends, so that it can read the reply.
  enum class Stage { Reading, Replying, Lingering, Over };

  void read();
  void take_bytes(std::string_view bytes);
  void handle();
  void flush();
  void end_reply();
  void close();
  void enter(Stage stage, std::chrono::milliseconds time);

  Descriptor socket_;
  const ServerOptions& options_;
  const HttpHandler& handler_;
  std::function<void()> wake_;
  Stage stage_ = Stage::Reading;
  Clock::time_point deadline_;
  bool is_idle_ = true;  // between two requests
  RequestParser parser_;
  std::string unread_;  // bytes of the next request
  std::shared_ptr<HttpReply> reply_;
  std::string out_;
  bool is_draining_ = false;
};

}  // namespace ingot::net
