// Accepts connections of other ranks: a listener and a thread that admits those who prove the
// secret.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "parallel/comm/tcp/handshake.h"

namespace ingot::tcp {

// Callbacks on the gate's thread. None of them throws.
struct Door {
  // For a connection that knows the secret: the reason to refuse it; empty: it is admitted.
  std::function<std::string(const Message& hello)> refuses;
  std::function<void(const Message& hello, Socket socket)> let_in;
  // A refused connection; the contents of `hello` are not verified.
  std::function<void(const Message& hello, const std::string& why)> turned_away;
};

class Gate {
 public:
  // `most_waiting`: the limit of unauthenticated connections; more are closed at once.
  Gate(Socket listener, const Key& key, size_t most_waiting, Door door);
  ~Gate();  // accepts no more connections
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

 private:
  void serve();
  void accept_all();
  bool is_over(Admission& admission);

  Socket listener_;
  const Key key_;
  const size_t most_waiting_;
  const Door door_;
  std::list<Admission> waiting_;
  Clock::time_point closed_until_{};  // while the system is out of descriptors
  std::atomic<bool> is_closed_ = false;
  Waker waker_;
  std::thread thread_;  // started last
};

}  // namespace ingot::tcp
