#include "parallel/comm/tcp/hub.h"

#include <algorithm>

#include "core/error/error.h"

namespace ingot::tcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

double seconds_of(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

Clock::duration beat_interval(const Deadlines& deadlines) {
  return std::clamp<Clock::duration>(deadlines.silence / 10, milliseconds(10), seconds(1));
}

Hub::Hub(Socket listener, Socket own, const std::string& host, int world,
         const Deadlines& deadlines, const Key& key)
    : deadlines_(deadlines),
      members_(static_cast<size_t>(world)),
      is_taken_(static_cast<size_t>(world)),
      thread_(),
      gate_(std::move(listener), key, /*most_waiting=*/static_cast<size_t>(world) + 64,
            {.refuses = [this](const Message& hello) { return refusal_of(hello); },
             .let_in = [this](const Message& hello,
                              Socket socket) { let_in(hello.rank, hello.name, std::move(socket)); },
             .turned_away =
                 [this](const Message& hello, const std::string& why) {
                   const std::scoped_lock lock(mutex_);
                   notes_.emplace_back(hello.rank, why);
                 }}) {
  let_in(0, host, std::move(own));
  thread_ = std::thread([this] { serve(); });
}

Hub::~Hub() {
  is_ending_ = true;
  waker_.wake();
  thread_.join();
}

std::string Hub::refusal_of(const Message& hello) {
  if (hello.number != size())
    return fmt::format(
        "it was started as one of {} ranks, rank 0 as one of {}: start all with the same number",
        hello.number, size());
  if (!is_rank(hello.rank))
    return fmt::format("expected a rank in [0, {}), got {}", size(), hello.rank);
  const std::scoped_lock lock(mutex_);
  if (is_taken_[static_cast<size_t>(hello.rank)])
    return fmt::format("rank {} is here already: start every rank once", hello.rank);
  return {};
}

void Hub::let_in(int rank, const std::string& host, Socket socket) {
  {
    const std::scoped_lock lock(mutex_);
    is_taken_[static_cast<size_t>(rank)] = true;
    newcomers_.push_back({rank, host, std::move(socket)});
  }
  waker_.wake();
}

void Hub::serve() {
  while (!is_over()) {
    std::vector<pollfd> wanted = {waker_.wanted()};
    for (const Member& member : members_)
      if (member.link) wanted.push_back(member.link->wanted());
    Clock::time_point next = next_beat_;
    for (const Member& member : members_)
      if (member.is_waiting && !lost_) next = std::min(next, member.until);
    poll_until(wanted, next);
    waker_.drain();
    take_newcomers();
    // What has come is heard before anybody is called late or silent.
    for (int rank = 0; rank < size(); ++rank) listen_to(rank);
    check_round();
    see_to_time();
    for (Member& member : members_)
      if (member.link) member.link->flush();
  }
}

void Hub::take_newcomers() {
  const std::scoped_lock lock(mutex_);
  for (auto& [rank, host, socket] : newcomers_) {
    Member& member = of(rank);
    member.host = host;
    member.link.emplace(std::move(socket), kMaxFrame);
    member.fate = Fate::Here;
    member.heard = Clock::now();
    member.state = "has just connected";
    if (lost_) tell(rank, lost_);
  }
  newcomers_.clear();
  for (const auto& [rank, why] : notes_)
    if (is_rank(rank)) of(rank).note = why;
  notes_.clear();
}

void Hub::listen_to(int rank) {
  Member& member = of(rank);
  while (member.link) {
    if (const auto message = member.link->next()) {
      member.heard = Clock::now();
      handle(rank, *message);
      continue;
    }
    if (member.link->broken().empty()) return;
    if (member.fate == Fate::Here)
      lose(rank, fmt::format("its connection broke ({}): its process on {} ended or was killed, or "
                             "the network between is cut; its own output says more",
                             member.link->broken(), member.host));
    member.link.reset();
  }
}

void Hub::handle(int rank, const Message& message) {
  Member& member = of(rank);
  switch (message.kind) {
    case Kind::Beat:
      member.state = message.text;
      return;
    case Kind::JoinRound:
      member.is_waiting = true;
      member.what = message.name;
      member.text = message.text;
      member.came = Clock::now();
      member.until = in_time(milliseconds(message.number));
      return check_round();
    case Kind::Post:
      return post(rank, message);
    case Kind::Await:
      if (const auto found = board_.find(message.name); found != board_.end())
        return tell(rank, {.kind = Kind::Value, .name = found->first, .text = found->second});
      member.awaits.push_back(message.name);
      return;
    case Kind::Number: {
      const auto next = static_cast<int64_t>(numbers_.size()) + 1;
      const int64_t number = numbers_.emplace(message.name, next).first->second;
      return tell(rank, {.kind = Kind::Numbered, .number = number, .name = message.name});
    }
    case Kind::States:
      return tell_states(rank);
    case Kind::Missed: {
      const int missed = is_rank(message.rank) ? message.rank : rank;
      const bool is_late = !message.text.empty();
      return lose(missed, is_late ? message.text : kReturned, is_late ? kLate : kMissed);
    }
    case Kind::Done:
      member.fate = Fate::Done;
      tell_all({.kind = Kind::RankDone, .rank = rank});
      if (are_all_done()) tell_all({.kind = Kind::AllDone});
      return;
    case Kind::Gone:
      member.fate = Fate::Gone;
      return lose(is_rank(message.rank) ? message.rank : rank, message.text, message.number);
    default:
      lose(rank, "it sent a message that no rank sends");
  }
}

// Ends it when all have come; somebody who is done will not.
void Hub::check_round() {
  const auto is_waiting = [](const Member& member) { return member.is_waiting; };
  if (std::ranges::all_of(members_, is_waiting)) return finish_round();
  if (std::ranges::none_of(members_, is_waiting)) return;
  for (int rank = 0; rank < size(); ++rank)
    if (of(rank).fate == Fate::Done && !of(rank).is_waiting) lose(rank, kReturned);
}

void Hub::finish_round() {
  int other = 0;  // the first that came for something else
  for (int rank = size() - 1; rank > 0; --rank)
    if (of(rank).what != of(0).what) other = rank;
  if (other == 0) {
    for (int rank = 0; rank < size(); ++rank)
      tell_all({.kind = Kind::Text, .rank = rank, .text = std::move(of(rank).text)});
    tell_all({.kind = Kind::RoundComplete});
  } else {
    tell_all(
        {.kind = Kind::Different,
         .text = fmt::format("ranks meet for different things: rank 0 for «{}», rank {} for «{}»",
                             of(0).what, other, of(other).what)});
  }
  for (Member& member : members_) {
    member.is_waiting = false;
    member.text.clear();
  }
}

void Hub::post(int rank, const Message& message) {
  const auto [entry, is_new] = board_.emplace(message.name, message.text);
  if (!is_new) return lose(rank, fmt::format("it posted «{}», which is posted", message.name));
  const Frame value = frame_of({.kind = Kind::Value, .name = message.name, .text = message.text});
  for (int other = 0; other < size(); ++other)
    if (std::erase(of(other).awaits, message.name) > 0) tell(other, value);
}

void Hub::tell_states(int rank) {
  for (int other = 0; other < size(); ++other) {
    const Member& member = of(other);
    const bool is_known = member.heard != Clock::time_point{};
    const auto age = is_known ? Clock::now() - member.heard : Clock::duration(0);
    tell(rank, {.kind = Kind::State,
                .rank = other,
                .number = std::chrono::duration_cast<milliseconds>(age).count(),
                .text = member.state});
  }
  tell(rank, {.kind = Kind::StatesEnd});
}

// The rank's wait timed out. The missing ranks are lost for all.
void Hub::call_late(int rank) {
  Member& member = of(rank);
  std::vector<MissingRank> missing;
  for (int other = 0; other < size(); ++other)
    if (!of(other).is_waiting) missing.push_back({other, known_of(other)});
  const Error error = waited_for(member.until - member.came, missing);
  member.is_waiting = false;
  tell(rank, {.kind = Kind::Late, .rank = error.rank(), .text = error.what()});
  lose(error.rank(), fmt::format("rank {} in {}: {}", rank, member.what, error.what()), kLate);
}

std::string Hub::known_of(int rank) {
  const Member& member = of(rank);
  std::string text = member.state;
  if (member.heard != Clock::time_point{})
    text += fmt::format(" (on {}, heard {:.1f} s ago)", member.host,
                        seconds_of(Clock::now() - member.heard));
  if (!member.note.empty())
    text += fmt::format(", and a connection in its name was refused: {}", member.note);
  return text;
}

void Hub::see_to_time() {
  const Clock::time_point now = Clock::now();
  // Whoever slept itself, as a stopped process or machine does, has not listened.
  if (now - last_round_ > deadlines_.silence / 2)
    for (Member& member : members_)
      if (member.fate == Fate::Here) member.heard = now;
  last_round_ = now;
  for (int rank = 0; rank < size(); ++rank) {
    Member& member = of(rank);
    // Whoever waits after the first gave up is told who is lost.
    if (member.is_waiting && now >= member.until && !lost_) call_late(rank);
    if (rank != 0 && member.fate == Fate::Here && now - member.heard > deadlines_.silence)
      lose(rank, fmt::format("nothing was heard of it for {:.1f} s: its process or machine ({}) "
                             "stands still, or the network between is cut; last known: {}",
                             seconds_of(now - member.heard), member.host, member.state));
  }
  if (now < next_beat_) return;
  next_beat_ = now + beat_interval(deadlines_);
  tell_all({.kind = Kind::Beat, .rank = 0, .text = of(0).state});
}

void Hub::lose(int rank, const std::string& why, int64_t code) {
  of(rank).fate = Fate::Gone;
  if (lost_) return;
  lost_ = frame_of({.kind = Kind::RankLost, .rank = rank, .number = code, .text = why});
  for (int other = 0; other < size(); ++other) tell(other, lost_);
}

bool Hub::are_all_done() const {
  return std::ranges::all_of(members_,
                             [](const Member& member) { return member.fate == Fate::Done; });
}

// All that are left have closed their connections; or there was time enough for what they are told
// to arrive.
bool Hub::is_over() {
  if (!is_ending_) return false;
  const Clock::time_point now = Clock::now();
  if (leave_at_ == Clock::time_point{})
    leave_at_ = now + std::min<Clock::duration>(seconds(10), deadlines_.silence);
  const bool is_alone = std::ranges::none_of(members_, [](const Member& member) {
    return member.link.has_value() && member.fate != Fate::Gone;
  });
  const std::scoped_lock lock(mutex_);
  return (is_alone && newcomers_.empty()) || now >= leave_at_;
}

void Hub::tell(int rank, const Frame& frame) {
  if (of(rank).link) of(rank).link->queue(frame);
}

void Hub::tell_all(const Message& message) {
  const Frame frame = frame_of(message);
  for (int rank = 0; rank < size(); ++rank) tell(rank, frame);
}

}  // namespace ingot::tcp
