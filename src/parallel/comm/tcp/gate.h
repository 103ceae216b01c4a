// Where other ranks come in: a listener and a thread that lets in whoever knows the secret.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "parallel/comm/tcp/handshake.h"

namespace ingot::tcp {

// What is done with those who ask, on the gate's thread. None of it throws.
struct Door {
  // Who knows the secret: why it is refused all the same; empty: it is let in.
  std::function<std::string(const Message& hello)> refuses;
  std::function<void(const Message& hello, Socket socket)> let_in;
  // Was not let in; what `hello` says is not known to be true.
  std::function<void(const Message& hello, const std::string& why)> turned_away;
};

class Gate {
 public:
  // `most_waiting`: connections that have not proven anything yet; more are closed at once.
  Gate(Socket listener, const Key& key, size_t most_waiting, Door door);
  ~Gate();  // nobody comes in any more
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
  Clock::time_point closed_until_{};  // the system has no more descriptors just now
  std::atomic<bool> is_closed_ = false;
  Waker waker_;
  std::thread thread_;  // the last to begin
};

}  // namespace ingot::tcp
