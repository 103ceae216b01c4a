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
  // `wake`: that a reply of it has something to write, from any thread.
  Connection(Descriptor socket, const ServerOptions& options, const HttpHandler& handler,
             std::function<void()> wake);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return socket_.fd(); }
  // Moves what can be moved. `can_read`: bytes, or the other end's end, are there.
  void advance(bool can_read, bool has_hung_up);
  // Ends what has taken too long. True: it did, and advance() must be called.
  bool check_time(Clock::time_point now);
  // Ends after the reply that is being written, or at once.
  void drain();
  // Answers by itself and closes.
  void refuse(const HttpProblem& problem);

  bool is_over() const { return stage_ == Stage::Over; }
  bool wants_to_read() const { return stage_ == Stage::Reading || stage_ == Stage::Lingering; }
  bool wants_to_write() const { return !out_.empty(); }

 private:
  // Lingering: what the client still sends is thrown away, so that it gets to read the reply.
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
  std::string unread_;  // of the next request
  std::shared_ptr<HttpReply> reply_;
  std::string out_;
  bool is_draining_ = false;
};

}  // namespace ingot::net
