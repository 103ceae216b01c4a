#include "parallel/comm/tcp/link.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "core/error/error.h"

namespace ingot::tcp {

Frame frame_of(const Message& message) {
  return std::make_shared<const std::string>(encode(message));
}

pollfd Link::wanted() const {
  if (!broken_.empty()) return {-1, 0, 0};
  return {socket_.fd(), static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT)), 0};
}

void Link::flush() {
  while (!out_.empty()) {
    const auto rest = std::as_bytes(std::span(*out_.front())).subspan(sent_);
    const int64_t sent = send_some(socket_, rest);
    if (sent < 0) {  // why it is, reading says, after what had come
      is_mute_ = true;
      out_.clear();
    }
    if (sent <= 0) return;
    sent_ += static_cast<size_t>(sent);
    if (sent_ < out_.front()->size()) continue;
    out_.pop_front();
    sent_ = 0;
  }
}

void Link::finish_sending() {
  is_mute_ = true;
  shutdown(socket_.fd(), SHUT_WR);
}

std::optional<Message> Link::next() {
  std::array<std::byte, 65536> bytes;
  while (broken_.empty()) {
    const auto room = std::span(bytes).first(std::min(reader_.missing(), bytes.size()));
    const int64_t got = receive_some(socket_, room);
    if (got < 0) broken_ = text_of_errno();
    if (got <= 0) return std::nullopt;
    try {
      if (auto message = reader_.add(room.first(static_cast<size_t>(got)))) return message;
    } catch (const Error& error) {
      broken_ = error.what();
    }
  }
  return std::nullopt;
}

}  // namespace ingot::tcp
