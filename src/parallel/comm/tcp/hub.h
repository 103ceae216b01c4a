// The server of the host plane: a thread in rank 0's process that every rank is connected to. It
// knows who has joined a round, the contents of the board, and who is lost.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error/error.h"
#include "parallel/comm/deadlines.h"
#include "parallel/comm/host_plane.h"
#include "parallel/comm/tcp/gate.h"

namespace ingot::tcp {

// The interval of heartbeats.
Clock::duration beat_interval(const Deadlines& deadlines);
inline constexpr auto kMissed = static_cast<int64_t>(ErrorCode::Comm);
inline constexpr const char* kReturned = "it returned while other ranks wait for it";

class Hub {
 public:
  // `own`: the server's end of rank 0's own connection; `host`: rank 0's machine.
  Hub(Socket listener, Socket own, const std::string& host, int world, const Deadlines& deadlines,
      const Key& key);
  // Waits at most a few seconds, until the others have left or were told to leave.
  ~Hub();

 private:
  enum class Fate { Absent, Here, Done, Gone };
  struct Member {
    std::optional<Link> link;
    Fate fate = Fate::Absent;
    Clock::time_point heard{};
    std::string state = "has not connected";
    std::string host;  // its machine
    std::string note;  // why a connection with its rank was refused
    // The round that it waits in.
    bool is_waiting = false;
    std::string what, text;
    Clock::time_point came{}, until{};
    std::vector<std::string> awaits;  // keys
  };

  struct Newcomer {
    int rank;
    std::string host;
    Socket socket;
  };

  // On the gate's thread.
  std::string refusal_of(const Message& hello);
  void let_in(int rank, const std::string& host, Socket socket);

  // On the hub's own thread.
  void serve();
  void take_newcomers();
  void listen_to(int rank);
  void handle(int rank, const Message& message);
  void check_round();
  void finish_round();
  void post(int rank, const Message& message);
  void tell_states(int rank);
  void see_to_time();
  // `code`: an ErrorCode, or kLate.
  void lose(int rank, const std::string& why, int64_t code = kMissed);
  bool are_all_done() const;
  bool is_over();

  Member& of(int rank) { return members_[static_cast<size_t>(rank)]; }
  int size() const { return static_cast<int>(members_.size()); }
  bool is_rank(int rank) const { return rank >= 0 && rank < size(); }
  void tell(int rank, const Frame& frame);
  void tell(int rank, const Message& message) { tell(rank, frame_of(message)); }
  void tell_all(const Message& message);
  void call_late(int rank);
  std::string known_of(int rank);

  const Deadlines deadlines_;
  std::vector<Member> members_;  // by rank
  std::map<std::string, std::string> board_;
  std::map<std::string, int64_t> numbers_;
  Frame lost_;  // the message about the first lost rank, as sent to all
  Clock::time_point next_beat_{}, last_round_ = Clock::now(), leave_at_{};

  std::mutex mutex_;  // guards what the gate's thread writes
  std::vector<bool> is_taken_;
  std::vector<Newcomer> newcomers_;
  std::vector<std::pair<int, std::string>> notes_;

  std::atomic<bool> is_ending_ = false;
  Waker waker_;
  std::thread thread_;
  Gate gate_;  // constructed last, destroyed first
};

}  // namespace ingot::tcp
