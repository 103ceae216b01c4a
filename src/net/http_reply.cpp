#include "net/http_reply.h"

#include <fmt/format.h>

namespace ingot::net {
namespace {

std::string_view reason_of(int status) {
  constexpr std::pair<int, std::string_view> kReasons[] = {{100, "Continue"},
                                                           {200, "OK"},
                                                           {400, "Bad Request"},
                                                           {401, "Unauthorized"},
                                                           {403, "Forbidden"},
                                                           {404, "Not Found"},
                                                           {405, "Method Not Allowed"},
                                                           {408, "Request Timeout"},
                                                           {413, "Content Too Large"},
                                                           {421, "Misdirected Request"},
                                                           {429, "Too Many Requests"},
                                                           {431, "Request Header Fields Too Large"},
                                                           {500, "Internal Server Error"},
                                                           {501, "Not Implemented"},
                                                           {503, "Service Unavailable"},
                                                           {504, "Gateway Timeout"},
                                                           {505, "HTTP Version Not Supported"}};
  for (const auto& [code, reason] : kReasons)
    if (code == status) return reason;
  return "Error";
}

}  // namespace

HttpReply::HttpReply(bool keep_alive, bool chunked, bool without_body, std::function<void()> wake)
    : keep_alive_(keep_alive),
      chunked_(chunked),
      without_body_(without_body),
      wake_(std::move(wake)) {}

void HttpReply::head(int status, std::string_view type, const HttpHeaders& headers,
                     std::string_view length) {
  out_ += fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n{}\r\nConnection: {}\r\n", status,
                      reason_of(status), type, length, keep_alive_ ? "keep-alive" : "close");
  for (const auto& [name, value] : headers) out_ += fmt::format("{}: {}\r\n", name, value);
  out_ += "X-Content-Type-Options: nosniff\r\n\r\n";
  begun_ = true;
}

void HttpReply::send(int status, std::string_view type, std::string_view body,
                     const HttpHeaders& headers) {
  {
    const std::scoped_lock lock(mutex_);
    if (begun_ || closed_) return;
    head(status, type, headers, fmt::format("Content-Length: {}", body.size()));
    if (!without_body_) out_ += body;
    ended_ = true;
  }
  wake_();
}

void HttpReply::begin_stream(int status, std::string_view type, const HttpHeaders& headers) {
  {
    const std::scoped_lock lock(mutex_);
    if (begun_ || closed_) return;
    // To HTTP/1.0 the end of a stream is the end of the connection.
    head(status, type, headers,
         chunked_ ? "Transfer-Encoding: chunked\r\nCache-Control: no-store"
                  : "Cache-Control: no-store");
  }
  wake_();
}

void HttpReply::write(std::string_view piece) {
  {
    const std::scoped_lock lock(mutex_);
    if (!begun_ || ended_ || closed_ || piece.empty()) return;
    if (without_body_) return;
    if (chunked_)
      out_ += fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
    else
      out_ += piece;
    held_up_ |= out_.size() - taken_ > kEnough;
  }
  wake_();
}

void HttpReply::end() {
  {
    const std::scoped_lock lock(mutex_);
    if (!begun_ || ended_ || closed_) return;
    if (chunked_ && !without_body_) out_ += "0\r\n\r\n";
    ended_ = true;
  }
  wake_();
}

size_t HttpReply::waiting_bytes() const {
  const std::scoped_lock lock(mutex_);
  return out_.size() - taken_;
}

void HttpReply::on_closed(std::function<void()> call) {
  {
    const std::scoped_lock lock(mutex_);
    if (!closed_) {
      on_closed_ = std::move(call);
      return;
    }
  }
  call();
}

void HttpReply::on_room(std::function<void()> call) {
  const std::scoped_lock lock(mutex_);
  on_room_ = std::move(call);
}

std::string HttpReply::take(size_t most) {
  const std::scoped_lock lock(mutex_);
  std::string part = out_.substr(taken_, most);
  taken_ += part.size();
  if (taken_ == out_.size()) {
    out_.clear();
    taken_ = 0;
  }
  return part;
}

bool HttpReply::is_finished() const {
  const std::scoped_lock lock(mutex_);
  return ended_ && out_.empty();
}

bool HttpReply::has_begun() const {
  const std::scoped_lock lock(mutex_);
  return begun_;
}

void HttpReply::close() {
  std::function<void()> call;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    out_.clear();
    taken_ = 0;
    if (!ended_) call = std::move(on_closed_);
    on_closed_ = nullptr;
    on_room_ = nullptr;
  }
  if (call) call();
}

void HttpReply::tell_room() {
  std::function<void()> call;
  {
    const std::scoped_lock lock(mutex_);
    if (!held_up_ || closed_ || out_.size() - taken_ > kEnough / 2) return;
    held_up_ = false;
    call = on_room_;
  }
  if (call) call();
}

}  // namespace ingot::net
