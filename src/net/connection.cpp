#include "net/connection.h"

#include <sys/socket.h>

#include <cerrno>

namespace ingot::net {
namespace {

constexpr size_t kReadBytes = size_t{16} << 10;
constexpr size_t kWriteBytes = size_t{64} << 10;
constexpr std::chrono::milliseconds kLingerTime{2'000};
// Reads of one turn, so that others get theirs.
constexpr int kReadsPerTurn = 8;

}  // namespace

Connection::Connection(Descriptor socket, const ServerOptions& options, const HttpHandler& handler,
                       std::function<void()> wake)
    : socket_(std::move(socket)),
      options_(options),
      handler_(handler),
      wake_(std::move(wake)),
      parser_(options.limits) {
  enter(Stage::Reading, options_.idle_time);
}

Connection::~Connection() {
  if (reply_) reply_->close();
}

void Connection::enter(Stage stage, std::chrono::milliseconds time) {
  stage_ = stage;
  deadline_ = Clock::now() + time;
}

void Connection::close() {
  stage_ = Stage::Over;
  if (reply_) reply_->close();
}

void Connection::advance(bool can_read, bool has_hung_up) {
  if (has_hung_up && stage_ != Stage::Reading) return close();
  if (can_read && wants_to_read()) read();
  if (!is_over()) flush();
}

void Connection::read() {
  char bytes[kReadBytes];
  for (int turn = 0; turn < kReadsPerTurn && wants_to_read(); ++turn) {
    const ssize_t count = recv(fd(), bytes, sizeof(bytes), 0);
    if (count == 0) return close();
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) close();
      return;
    }
    if (stage_ == Stage::Reading) take_bytes({bytes, static_cast<size_t>(count)});
  }
}

void Connection::take_bytes(std::string_view bytes) {
  const size_t used = parser_.feed(bytes);
  if (parser_.problem().status != 0) return refuse(parser_.problem());
  if (parser_.is_complete()) {
    unread_ = bytes.substr(used);
    return handle();
  }
  if (is_idle_ && parser_.has_begun()) {
    is_idle_ = false;
    enter(Stage::Reading, options_.receive_time);
  }
  if (parser_.take_expectation()) out_ += "HTTP/1.1 100 Continue\r\n\r\n";
}

void Connection::handle() {
  const HttpRequest request = parser_.take();
  // Without chunks the end of a stream is the end of the connection.
  const bool keep_alive = request.keep_alive && request.takes_chunks && !is_draining_;
  reply_ = std::make_shared<HttpReply>(keep_alive, request.takes_chunks, request.method == "HEAD",
                                       wake_);
  enter(Stage::Replying, options_.reply_time);
  handler_(request, reply_);
}

void Connection::refuse(const HttpProblem& problem) {
  reply_ = std::make_shared<HttpReply>(false, false, false, [] {});
  enter(Stage::Replying, kLingerTime);
  reply_->send(problem.status, options_.problem_type, options_.problem_body(problem));
}

void Connection::flush() {
  for (;;) {
    if (out_.empty() && reply_) out_ = reply_->take(kWriteBytes);
    if (out_.empty()) {
      if (!reply_) return;
      reply_->tell_room();
      if (!reply_->is_finished()) return;
      end_reply();
      continue;
    }
    const ssize_t count = send(fd(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) close();
      return;
    }
    out_.erase(0, static_cast<size_t>(count));
    if (!out_.empty()) return;
  }
}

void Connection::end_reply() {
  const bool keeps = reply_->keep_alive() && !is_draining_;
  reply_.reset();
  if (!keeps) {
    shutdown(fd(), SHUT_WR);
    return enter(Stage::Lingering, kLingerTime);
  }
  is_idle_ = true;
  enter(Stage::Reading, options_.idle_time);
  if (unread_.empty()) return;
  const std::string next = std::exchange(unread_, {});
  take_bytes(next);
}

bool Connection::check_time(Clock::time_point now) {
  if (now < deadline_ || is_over()) return false;
  if (stage_ == Stage::Reading && !is_idle_) {
    refuse({408, "the request took too long to arrive"});
  } else if (stage_ == Stage::Replying && !reply_->has_begun()) {
    reply_->close();
    refuse({504, "the request took too long"});
  } else {
    close();
  }
  return true;
}

void Connection::drain() {
  is_draining_ = true;
  if (stage_ == Stage::Reading && is_idle_) close();
}

}  // namespace ingot::net
