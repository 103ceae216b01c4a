// One rank's connection to the hub, and the thread that serves it.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "parallel/comm/host_plane.h"
#include "parallel/comm/tcp/link.h"

namespace ingot::tcp {

// Calls as in HostPlane and Control. join_round() is for one thread; the others are thread-safe.
class HubClient {
 public:
  HubClient(Socket socket, const Process& process, const Deadlines& deadlines, Watch& watch);
  ~HubClient();  // sends what is queued first
  HubClient(const HubClient&) = delete;
  HubClient& operator=(const HubClient&) = delete;

  std::vector<std::string> join_round(std::string_view what, std::string_view own, Timeout timeout);
  void post(const std::string& key, const std::string& value);
  std::string await(const std::string& key, Timeout timeout);
  int64_t number_of(const std::string& name);
  std::optional<LostRank> lost(std::span<const int> needed);
  std::vector<RankState> states();
  void declare_lost(const LostRank& late);
  void go(const std::string& why, int culprit, ErrorCode code);

 private:
  struct Known {
    std::string state = "nothing is known";
    Clock::time_point heard = Clock::now();
  };

  // On the client's thread.
  void serve();
  void hear();
  void handle(Message message);
  void beat();
  void say_goodbye();

  // With the mutex held.
  void say(const Message& message);
  void lose(LostRank lost, bool is_late = false);
  void throw_if_lost() const;
  template <class Over>
  bool wait_until(std::unique_lock<std::mutex>& lock, Clock::time_point end, const Over& over);

  const int rank_;
  const std::string everyone_;  // "0,1,2"
  const Deadlines deadlines_;
  Watch& watch_;
  Link link_;  // used by the thread only
  Clock::time_point heard_ = Clock::now(), next_beat_{}, last_round_ = Clock::now();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Frame> outbox_;
  std::optional<LostRank> lost_;
  std::vector<bool> is_done_;  // by rank
  int64_t num_rounds_ = 0;
  bool are_all_done_ = false, is_gone_ = false, is_ending_ = false;
  std::vector<std::string> texts_;  // of the round, by rank
  std::optional<Message> outcome_;  // the round's result: Met, Late, Different
  std::map<std::string, std::string> values_;
  std::map<std::string, int64_t> numbers_;
  std::vector<Known> known_;  // by rank
  int64_t num_states_ = 0;    // replies to States

  Waker waker_;
  std::thread thread_;  // started last
};

}  // namespace ingot::tcp
