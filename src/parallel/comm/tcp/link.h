// A connection that carries messages and never blocks.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "parallel/comm/tcp/message.h"
#include "parallel/comm/tcp/socket.h"

namespace ingot::tcp {

using Frame = std::shared_ptr<const std::string>;  // encoded; one for all that get it
Frame frame_of(const Message& message);

// One thread at a time.
class Link {
 public:
  Link(Socket socket, size_t longest) : socket_(std::move(socket)), reader_(longest) {}

  void queue(Frame frame) {
    if (!is_mute_) out_.push_back(std::move(frame));
  }
  bool is_flushed() const { return out_.empty(); }
  pollfd wanted() const;

  // Sends what can be sent.
  void flush();
  // The next message that came, of those that have come whole; never reads beyond it.
  std::optional<Message> next();

  // Why nothing comes any more; empty while it may. What came before is read first.
  const std::string& broken() const { return broken_; }
  void finish_sending();  // the other end sees that no more comes

  const Socket& socket() const { return socket_; }
  Socket take_socket() { return std::move(socket_); }

 private:
  Socket socket_;
  FrameReader reader_;
  std::deque<Frame> out_;
  size_t sent_ = 0;       // of the first of them
  bool is_mute_ = false;  // what is sent arrives nowhere
  std::string broken_;
};

}  // namespace ingot::tcp
