// A connection that sends and receives messages and never blocks.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "parallel/comm/tcp/message.h"
#include "parallel/comm/tcp/socket.h"

namespace ingot::tcp {

using Frame = std::shared_ptr<const std::string>;  // encoded; shared by all receivers
Frame frame_of(const Message& message);

// For one thread at a time.
class Link {
 public:
  Link(Socket socket, size_t longest) : socket_(std::move(socket)), reader_(longest) {}

  void queue(Frame frame) {
    if (!is_mute_) out_.push_back(std::move(frame));
  }
  bool is_flushed() const { return out_.empty(); }
  pollfd wanted() const;

  // Sends as much as possible now.
  void flush();
  // The next complete message; never reads beyond it.
  std::optional<Message> next();

  // Why no more messages will come; empty while they may. Read earlier messages first.
  const std::string& broken() const { return broken_; }
  void finish_sending();  // the other end sees the end of the stream

  const Socket& socket() const { return socket_; }
  Socket take_socket() { return std::move(socket_); }

 private:
  Socket socket_;
  FrameReader reader_;
  std::deque<Frame> out_;
  size_t sent_ = 0;       // bytes of the first frame sent so far
  bool is_mute_ = false;  // the other end no longer receives
  std::string broken_;
};

}  // namespace ingot::tcp
