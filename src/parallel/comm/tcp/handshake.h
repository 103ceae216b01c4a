// The handshake of a new connection: both ends prove that they know the run's secret, which is
// never sent.
//
//   client                                           server
//   Hello(rank, world, name, nonce a)        ──►
//                                            ◄──     Challenge(nonce b, proof of b's side)
//   Proof                                    ──►
//                                            ◄──     Welcome, or Refused(why)
//
// A proof is a SipHash of the hello and both nonces, with a key derived from the secret.
#pragma once

#include <functional>
#include <string>

#include "parallel/comm/tcp/link.h"
#include "parallel/comm/tcp/siphash.h"

namespace ingot::tcp {

Key key_of(const std::string& secret);
std::string random_nonce();  // 16 bytes

// Connects as client, with retries until the deadline, since ranks start at different times;
// `go_on` is called between attempts and may throw. Throws ErrorCode::Comm if nobody answers,
// ErrorCode::Config if the secret differs or the server refuses.
Socket knock(const Address& address, const Key& key, Message hello, Clock::time_point deadline,
             const std::function<void()>& advance);

// The server's side of one connection. Does not wait.
class Admission {
 public:
  Admission(Socket socket, const Key& key, Clock::time_point deadline);

  pollfd wanted() const { return link_.wanted(); }
  const Message& hello() const { return hello_; }  // valid after it was received
  const Socket& socket() const { return link_.socket(); }
  Clock::time_point deadline() const { return deadline_; }

  enum class Stage { Waits, Proven, Failed };
  // Processes received bytes. Proven: the client knows the secret; answer it.
  Stage advance();
  const std::string& why() const { return why_; }  // the reason of a failure

  Socket welcome();
  void refuse(const std::string& why);

 private:
  void take(const Message& message);
  void say(const Message& message);

  Link link_;
  Key key_;
  Clock::time_point deadline_;
  Message hello_;
  std::string nonce_, why_;
  bool is_proven_ = false;
};

}  // namespace ingot::tcp
