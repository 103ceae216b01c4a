#include "parallel/comm/tcp/handshake.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "core/error/error.h"

namespace ingot::tcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kNonce = 16;
constexpr auto kTimeOfOneTry = seconds(5);
constexpr auto kTimeOfNames = seconds(20);  // until a name resolves: that of a new machine may not

std::string text_of(const Mac& mac) {
  return {reinterpret_cast<const char*>(mac.data()), mac.size()};
}

// Takes as long wherever the first difference is.
bool equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  int difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

// `hello` holds the nonce of who asks.
std::string proof(const Key& key, const char* side, const Message& hello,
                  const std::string& nonce) {
  return text_of(siphash(key, side + encode(hello) + nonce));
}

struct Knocked {
  Socket socket;
  std::string why = {};
  bool is_final = false;  // another try would end the same
};

std::optional<Message> receive(Link& link, Clock::time_point deadline) {
  for (;;) {
    link.flush();
    if (auto message = link.next()) return message;
    if (!link.broken().empty() || Clock::now() >= deadline) return std::nullopt;
    pollfd wanted[] = {link.wanted()};
    poll_until(wanted, deadline);
  }
}

Knocked ask(Socket socket, const Key& key, const Message& hello, Clock::time_point deadline) {
  Link link(std::move(socket), kMaxHandshake);
  const auto silent = [&] {
    return Knocked{{}, link.broken().empty() ? "no answer" : link.broken()};
  };
  link.queue(frame_of(hello));
  const auto challenge = receive(link, deadline);
  if (!challenge) return silent();
  if (challenge->kind == Kind::Refused) return {{}, challenge->text, true};
  const std::string nonce = challenge->text.substr(0, kNonce);
  const bool is_ours = challenge->kind == Kind::Challenge &&
                       equal(challenge->text, nonce + proof(key, "asked", hello, nonce));
  // Without a proof in it: so that the other end knows why this one leaves.
  link.queue(
      frame_of({.kind = Kind::Proof, .text = is_ours ? proof(key, "asks", hello, nonce) : ""}));
  link.flush();
  if (!is_ours)
    return {{}, "the secret there is another one: give every rank of a run the same", true};
  const auto answer = receive(link, deadline);
  if (!answer) return silent();
  if (answer->kind != Kind::Welcome) return {{}, answer->text, true};
  return {link.take_socket()};
}

}  // namespace

Key key_of(const std::string& secret) {
  return siphash(Key{}, secret);
}

std::string random_nonce() {
  std::string nonce(kNonce, '\0');
  check(getrandom(nonce.data(), nonce.size(), 0) == static_cast<ssize_t>(nonce.size()),
        ErrorCode::Internal, "getrandom: {}", std::strerror(errno));
  return nonce;
}

Socket knock(const Address& address, const Key& key, Message hello, Clock::time_point deadline,
             const std::function<void()>& advance) {
  const Clock::time_point begin = Clock::now();
  hello.text = random_nonce();
  for (milliseconds pause(20);; pause = std::min(2 * pause, milliseconds(500))) {
    std::string why;
    bool is_final = true;  // whatever name of the machine is tried
    for (const std::string& host : address.hosts) {
      const auto end = std::min(deadline, Clock::now() + kTimeOfOneTry);
      Attempt attempt = connect_to(host, address.port, end);
      Knocked knocked{{}, attempt.why, false};
      if (attempt.socket) knocked = ask(std::move(attempt.socket), key, hello, end);
      if (knocked.socket) return std::move(knocked.socket);
      if (why.empty() || knocked.is_final) why = knocked.why;
      const bool typo = attempt.unknown_name && Clock::now() - begin > kTimeOfNames;
      is_final = is_final && (knocked.is_final || typo);
      if (knocked.is_final && address.hosts.size() == 1)
        throw Error(ErrorCode::Config,
                    fmt::format("rank {} was refused at {}: {}", hello.rank, address.str(), why));
    }
    advance();
    if (is_final || Clock::now() + pause >= deadline) {
      const std::chrono::duration<double> waited = Clock::now() - begin;
      throw Error(ErrorCode::Comm,
                  fmt::format("no rank answered at {} for {:.1f} s ({}): check that it is the "
                              "address of the rank that listens there, that this one runs, and "
                              "that no firewall is between",
                              address.str(), waited.count(), why));
    }
    std::this_thread::sleep_for(pause);
  }
}

Admission::Admission(Socket socket, const Key& key, Clock::time_point deadline)
    : link_(std::move(socket), kMaxHandshake),
      key_(key),
      deadline_(deadline),
      nonce_(random_nonce()) {}

Admission::Stage Admission::advance() {
  link_.flush();
  while (why_.empty() && !is_proven_) {
    const auto message = link_.next();
    if (!message) break;
    take(*message);
  }
  if (is_proven_) return Stage::Proven;
  if (why_.empty()) why_ = link_.broken();
  if (why_.empty() && Clock::now() >= deadline_) why_ = "it said nothing";
  return why_.empty() ? Stage::Waits : Stage::Failed;
}

void Admission::take(const Message& message) {
  const bool is_first = hello_.text.empty();
  if (is_first && message.kind == Kind::Hello && message.text.size() == kNonce) {
    hello_ = message;
    say({.kind = Kind::Challenge, .text = nonce_ + proof(key_, "asked", hello_, nonce_)});
  } else if (!is_first && message.kind == Kind::Proof &&
             equal(message.text, proof(key_, "asks", hello_, nonce_))) {
    is_proven_ = true;
  } else {
    refuse("the secret is not that of this run");
    why_ = is_first ? "it is no rank of ours" : "it has another secret";
  }
}

void Admission::say(const Message& message) {
  link_.queue(frame_of(message));
  link_.flush();  // a new connection has room for it
}

Socket Admission::welcome() {
  say({.kind = Kind::Welcome});
  return link_.take_socket();
}

void Admission::refuse(const std::string& why) {
  say({.kind = Kind::Refused, .text = why});
}

}  // namespace ingot::tcp
