#include "parallel/comm/tcp/gate.h"

#include <cerrno>

#include "core/error/log.h"

namespace ingot::tcp {
namespace {

using std::chrono::milliseconds;

constexpr auto kTimeToProve = std::chrono::seconds(10);

}  // namespace

Gate::Gate(Socket listener, const Key& key, size_t most_waiting, Door door)
    : listener_(std::move(listener)),
      key_(key),
      most_waiting_(most_waiting),
      door_(std::move(door)),
      thread_([this] { serve(); }) {}

Gate::~Gate() {
  is_closed_ = true;
  waker_.wake();
  thread_.join();
}

void Gate::serve() {
  while (!is_closed_) {
    Clock::time_point next = Clock::now() + std::chrono::minutes(1);
    const bool is_open = Clock::now() >= closed_until_;
    if (!is_open) next = closed_until_;
    std::vector<pollfd> wanted = {waker_.wanted(), {is_open ? listener_.fd() : -1, POLLIN, 0}};
    for (const Admission& admission : waiting_) {
      wanted.push_back(admission.wanted());
      next = std::min(next, admission.deadline());
    }
    poll_until(wanted, next);
    if (is_open) accept_all();
    waiting_.remove_if([this](Admission& admission) { return is_over(admission); });
  }
}

void Gate::accept_all() {
  for (;;) {
    Socket socket = accept_from(listener_);
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
        closed_until_ = Clock::now() + milliseconds(100);
      return;
    }
    if (waiting_.size() < most_waiting_)
      waiting_.emplace_back(std::move(socket), key_, Clock::now() + kTimeToProve);
  }
}

bool Gate::is_over(Admission& admission) {
  const Admission::Stage stage = admission.advance();
  if (stage == Admission::Stage::Waits) return false;
  const Message hello = admission.hello();
  std::string why = admission.why();
  if (stage == Admission::Stage::Proven) {
    why = door_.refuses(hello);
    if (why.empty()) {
      door_.let_in(hello, admission.welcome());
      return true;
    }
    admission.refuse(why);
  }
  // What never spoke as a rank, a scan of ports, say, is nobody's concern.
  const bool is_stranger = hello.text.empty();
  (is_stranger ? log::debug : log::warn)("connection_refused",
                                         {{"from", peer_host(admission.socket())}, {"why", why}});
  door_.turned_away(hello, why);
  return true;
}

}  // namespace ingot::tcp
