#include "parallel/comm/tcp/hub_client.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/system/timing.h"
#include "parallel/comm/tcp/hub.h"

namespace ingot::tcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kTimeOfStates = seconds(1);  // to hear how others are, on the way to an error
std::vector<int> first_ranks(int count) {
  std::vector<int> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

constexpr auto kTimeOfGoodbye = seconds(2);  // until the hub has closed its end

// Of a RankLost's number.
ErrorCode code_of(int64_t number) {
  const bool is_code = number >= 0 && number <= static_cast<int64_t>(ErrorCode::Internal);
  return is_code ? static_cast<ErrorCode>(number) : ErrorCode::Comm;
}

}  // namespace

HubClient::HubClient(Socket socket, const Process& process, const Deadlines& deadlines,
                     Watch& watch)
    : rank_(process.rank),
      everyone_(text_of_ranks(first_ranks(process.world))),
      deadlines_(deadlines),
      watch_(watch),
      link_(std::move(socket), kMaxFrame),
      is_done_(static_cast<size_t>(process.world)),
      texts_(static_cast<size_t>(process.world)),
      known_(static_cast<size_t>(process.world)),
      thread_([this] { serve(); }) {}

HubClient::~HubClient() {
  {
    const std::scoped_lock lock(mutex_);
    if (!is_gone_) say({.kind = Kind::Gone, .number = kMissed, .text = "it left without a word"});
    is_ending_ = true;
  }
  waker_.wake();
  thread_.join();
}

// ---- the thread ----

void HubClient::serve() {
  for (;;) {
    {
      const std::scoped_lock lock(mutex_);
      for (Frame& frame : outbox_) link_.queue(std::move(frame));
      outbox_.clear();
      if (is_ending_) break;
    }
    beat();
    link_.flush();
    pollfd wanted[] = {waker_.wanted(), link_.wanted()};
    poll_until(wanted, next_beat_);
    waker_.drain();
    hear();
  }
  say_goodbye();
}

void HubClient::hear() {
  while (auto message = link_.next()) {
    heard_ = Clock::now();
    handle(std::move(*message));
  }
  const Clock::time_point now = Clock::now();
  // Whoever slept itself has not listened.
  if (now - last_round_ > deadlines_.silence / 2) heard_ = now;
  last_round_ = now;
  const std::scoped_lock lock(mutex_);
  if (are_all_done_ || rank_ == 0) return;  // the hub of rank 0 is in this process
  const std::string& state = known_[0].state;
  if (!link_.broken().empty())
    lose({0, fmt::format("the connection to it broke ({}): its process ended or was killed, or the "
                         "network between is cut; its own output says more",
                         link_.broken())});
  else if (now - heard_ > deadlines_.silence)
    lose({0,
          fmt::format("nothing was heard of it for {:.1f} s: its process or machine stands still, "
                      "or the network between is cut; last known: {}",
                      std::chrono::duration<double>(now - heard_).count(), state)});
}

void HubClient::handle(Message message) {
  const std::scoped_lock lock(mutex_);
  changed_.notify_all();
  const bool is_of_rank = message.rank >= 0 && message.rank < static_cast<int>(known_.size());
  const auto rank = static_cast<size_t>(is_of_rank ? message.rank : 0);
  switch (message.kind) {
    case Kind::Text:
      texts_[rank] = std::move(message.text);
      return;
    case Kind::RoundComplete:
    case Kind::Late:
    case Kind::Different:
      outcome_ = std::move(message);
      return;
    case Kind::Value:
      values_[message.name] = std::move(message.text);
      return;
    case Kind::Numbered:
      numbers_[message.name] = message.number;
      return;
    case Kind::State:
      known_[rank] = {std::move(message.text), Clock::now() - milliseconds(message.number)};
      return;
    case Kind::StatesEnd:
      ++num_states_;
      return;
    case Kind::Beat:
      known_[0] = {std::move(message.text), Clock::now()};
      return;
    case Kind::RankDone:
      is_done_[rank] = true;
      return;
    case Kind::AllDone:
      are_all_done_ = true;
      return;
    case Kind::RankLost:
      return lose({message.rank, std::move(message.text), code_of(message.number)},
                  message.number == kLate);
    default:
      return lose({0, "it sent a message that no hub sends"});
  }
}

void HubClient::beat() {
  if (Clock::now() < next_beat_) return;
  next_beat_ = Clock::now() + beat_interval(deadlines_);
  link_.queue(frame_of({.kind = Kind::Beat, .rank = rank_, .text = watch_.state()}));
}

// Closing a connection while something is on the way to this end would throw away what this one
// said last, so the hub closes it first.
void HubClient::say_goodbye() {
  const Clock::time_point end = Clock::now() + kTimeOfGoodbye;
  bool is_said = false;
  while (link_.broken().empty() && Clock::now() < end) {
    link_.flush();
    if (!is_said && link_.is_flushed()) {
      link_.finish_sending();
      is_said = true;
    }
    pollfd wanted[] = {link_.wanted()};
    poll_until(wanted, end);
    while (link_.next()) {
    }
  }
}

// ---- those who ask ----

void HubClient::say(const Message& message) {
  outbox_.push_back(frame_of(message));
  waker_.wake();
}

void HubClient::lose(LostRank lost, bool is_late) {
  if (lost_) return;
  if (is_late) log::error("rank_late", {{"rank", std::to_string(rank_)}, {"why", lost.why}});
  lost_ = std::move(lost);
  changed_.notify_all();
}

void HubClient::throw_if_lost() const {
  if (lost_) throw lost_error(*lost_);
}

// True when it is over in time; throws when a rank is lost before.
template <class Over>
bool HubClient::wait_until(std::unique_lock<std::mutex>& lock, Clock::time_point end,
                           const Over& over) {
  const log::Wait wait("other ranks");
  changed_.wait_until(lock, end, [&] { return over() || lost_; });
  if (over()) return true;
  throw_if_lost();
  return false;
}

std::vector<std::string> HubClient::join_round(std::string_view what, std::string_view own,
                                               Timeout timeout) {
  const std::string name = fmt::format("{} #{} among {}", what, ++num_rounds_, everyone_);
  const Watched watched(watch_, name);
  std::unique_lock lock(mutex_);
  try {
    throw_if_lost();
    outcome_.reset();
    say({.kind = Kind::JoinRound,
         .rank = rank_,
         .number = timeout.count(),
         .name = std::string(what),
         .text = std::string(own)});
    // The hub reports timeouts and missing ranks; its heartbeats show that it is alive.
    const auto end = in_time(timeout) + deadlines_.silence + seconds(5);
    const bool is_over = wait_until(lock, end, [this] { return outcome_.has_value(); });
    check(is_over, ErrorCode::Comm, "rank 0 did not say who is missing");
    if (outcome_->kind == Kind::Late)
      throw Error(ErrorCode::Comm, outcome_->text).on_rank(outcome_->rank);
  } catch (const Error& error) {
    if (is_refusal(error.code())) throw;  // has nothing to do with what this rank waits for
    throw error.during(fmt::format("{} at step {}", name, watch_.step()));
  }
  check(outcome_->kind != Kind::Different, ErrorCode::Internal, "{}", outcome_->text);
  return std::exchange(texts_, std::vector<std::string>(texts_.size()));
}

void HubClient::post(const std::string& key, const std::string& value) {
  const std::scoped_lock lock(mutex_);
  say({.kind = Kind::Post, .rank = rank_, .name = key, .text = value});
}

std::string HubClient::await(const std::string& key, Timeout timeout) {
  std::unique_lock lock(mutex_);
  if (const auto found = values_.find(key); found != values_.end()) return found->second;
  say({.kind = Kind::Await, .rank = rank_, .name = key});
  const bool is_here =
      wait_until(lock, in_time(timeout), [&] { return values_.find(key) != values_.end(); });
  check(is_here, ErrorCode::Comm, "the board: waited {:.1f} s for «{}», which no rank posted",
        std::chrono::duration<double>(timeout).count(), key);
  return values_[key];
}

int64_t HubClient::number_of(const std::string& name) {
  std::unique_lock lock(mutex_);
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  say({.kind = Kind::Number, .rank = rank_, .name = name});
  const bool is_here = wait_until(lock, in_time(deadlines_.collective),
                                  [&] { return numbers_.find(name) != numbers_.end(); });
  check(is_here, ErrorCode::Comm, "the board: rank 0 gave no number for «{}»", name);
  return numbers_[name];
}

std::optional<LostRank> HubClient::lost(std::span<const int> needed) {
  const std::scoped_lock lock(mutex_);
  if (lost_) return lost_;
  for (const int rank : needed) {
    if (rank == rank_ || !is_done_[static_cast<size_t>(rank)]) continue;
    lose({rank, kReturned});
    say({.kind = Kind::Missed, .rank = rank});
    break;
  }
  return lost_;
}

std::vector<RankState> HubClient::states() {
  std::unique_lock lock(mutex_);
  const int64_t before = num_states_;
  say({.kind = Kind::States, .rank = rank_});
  changed_.wait_until(lock, Clock::now() + kTimeOfStates,
                      [&] { return num_states_ > before || (lost_ && lost_->rank == 0); });
  std::vector<RankState> states;
  for (const Known& known : known_) states.push_back({known.state, seconds_since(known.heard)});
  states[static_cast<size_t>(rank_)] = {watch_.state(), 0.0};
  return states;
}

void HubClient::declare_lost(const LostRank& late) {
  const std::scoped_lock lock(mutex_);
  lose(late, /*is_late=*/true);
  say({.kind = Kind::Missed, .rank = late.rank, .text = late.why});
}

void HubClient::go(const std::string& why, int culprit, ErrorCode code) {
  std::unique_lock lock(mutex_);
  if (is_gone_) return;
  is_gone_ = true;
  if (!why.empty())
    return say(
        {.kind = Kind::Gone, .rank = culprit, .number = static_cast<int64_t>(code), .text = why});
  say({.kind = Kind::Done, .rank = rank_});
  const Watched watched(watch_, "the end of the run");
  const Timeout timeout = std::max({deadlines_.collective, deadlines_.save, deadlines_.validation});
  const bool is_over = wait_until(lock, in_time(timeout), [this] { return are_all_done_; });
  check(is_over, ErrorCode::Comm, "the end of the run: waited {:.1f} s for ranks that still run",
        std::chrono::duration<double>(timeout).count());
}

}  // namespace ingot::tcp
