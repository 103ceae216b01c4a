#include "cli/launch/attempt.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>

#include "cli/launch/agent_words.h"
#include "cli/launch/notes.h"
#include "core/error/error.h"
#include "core/text/hex.h"

namespace ingot::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr seconds kGreeting(60);  // until an agent answers
// After the first rank that failed. To a run the first SIGTERM means to save, if it still can, and
// the second to end at once; SIGKILL also ends one that is stopped.
constexpr seconds kSettle(3);  // for the others to end by themselves
constexpr seconds kTerm(2);    // to the second SIGTERM
constexpr seconds kKill(2);    // to SIGKILL
constexpr seconds kLost(1);    // to SIGKILL once those that are left are ranks that others lost
constexpr seconds kReach(1);   // from SIGKILL until a machine is out of reach

std::string random_secret() {
  std::array<uint64_t, 2> bits{};
  std::ifstream random("/dev/urandom", std::ios::binary);
  random.read(reinterpret_cast<char*>(bits.data()), sizeof(bits));
  check(random.good(), ErrorCode::Storage, "cannot read /dev/urandom");
  return hex(bits[0]) + hex(bits[1]);
}

// For the shell that ssh starts.
std::string in_quotes(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

struct Rank {
  enum class State { Running, Ended, Lost };
  State state = State::Running;
  int host = 0;
  int number = 0;            // exit code, or -signal
  std::string text = {};     // how it ended, of one that failed
  bool lost = false;         // others said so
  bool killed = false;       // by launch, since it did not end
  std::string refusal = {};  // why it does not take the run

  bool is_running() const { return state == State::Running; }
  bool failed() const {
    return state == State::Lost ||
           (state == State::Ended && number != static_cast<int>(Exit::Done) &&
            number != static_cast<int>(Exit::Stopped));
  }
};

struct Agent {
  HostRanks ranks;
  bool local = true;
  Child child;
  std::optional<int> port;  // once it has answered
};

class Attempt {
 public:
  Attempt(const LaunchPlan& plan, SignalQueue& signals) : plan_(plan), signals_(signals) {
    for (const HostRanks& host : plan.hosts) {
      for (int i = 0; i < host.count; ++i)
        ranks_.push_back({.host = static_cast<int>(agents_.size())});
      agents_.push_back({host, is_this_machine(host.host), {}, {}});
    }
  }
  ~Attempt() {
    for (Agent& agent : agents_) {
      agent.child.input.close();  // which ends its ranks
      if (agent.child.pid > 0 && !agent.port) ::kill(agent.child.pid, SIGKILL);
      if (agent.child.pid > 0) ::waitpid(agent.child.pid, nullptr, 0);
    }
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  LaunchEnd run() {
    for (Agent& agent : agents_) start(agent);
    const auto late = Clock::now() + kGreeting;
    const auto answered = [&] {
      return std::ranges::all_of(agents_, [](const Agent& a) { return a.port.has_value(); });
    };
    while (!answered() && !first_failed_ && !asked_to_) {
      listen();
      if (Clock::now() >= late) return no_answer();
    }
    if (first_failed_) return end();  // before any rank was started
    if (asked_to_) return {Exit::Failed, "a signal came before any rank was started", true};
    send_jobs();
    while (std::ranges::any_of(ranks_, &Rank::is_running)) listen(), end_the_others();
    return end();
  }

 private:
  void start(Agent& agent) {
    std::vector<std::string> words;
    if (!agent.local) {
      words = plan_.ssh;
      words.insert(words.end(),
                   {"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-T", agent.ranks.host, "--",
                    in_quotes(plan_.program), "launch", "--agent"});
    } else {
      words = {"/proc/self/exe", "launch", "--agent"};
    }
    agent.child = start_child(words, {.takes_input = true, .in_new_session = true});
  }

  LaunchEnd no_answer() const {
    for (const Agent& agent : agents_)
      if (!agent.port)
        return {Exit::Failed, fmt::format("host {} did not answer within {} s", agent.ranks.host,
                                          kGreeting.count())};
    return {};
  }

  void send_jobs() {
    AgentJob job{.folder = plan_.folder,
                 .program = plan_.program,
                 .args = plan_.args,
                 .variables = plan_.variables,
                 .world = plan_.ranks};
    job.variables["INGOT_RENDEZVOUS"] = fmt::format("{}:{}", address(), *agents_[0].port);
    job.variables["INGOT_SECRET"] = random_secret();
    for (Agent& agent : agents_) {
      job.first = agent.ranks.first;
      job.count = agent.ranks.count;
      write_all(agent.child.input.get(), to_text(job));
    }
  }

  // How all machines reach rank 0's.
  std::string address() const {
    if (!plan_.address.empty()) return plan_.address;
    if (std::ranges::all_of(agents_, &Agent::local)) return "127.0.0.1";
    const std::string& host = agents_[0].ranks.host;
    return agents_[0].local ? this_machine() : host.substr(host.find('@') + 1);
  }

  void listen() {
    std::vector<pollfd> waits = {{signals_.descriptor(), POLLIN, 0}};
    for (const Agent& agent : agents_)
      for (const int descriptor : {agent.child.out.descriptor(), agent.child.err.descriptor()})
        if (descriptor >= 0) waits.push_back({descriptor, POLLIN, 0});
    ::poll(waits.data(), waits.size(), 100);
    for (const int number : signals_.take()) forward(number);
    for (Agent& agent : agents_) {
      // Of an agent, or of ssh: what it says is of the machine.
      agent.child.err.read(
          [&](std::string_view line) { fmt::print(stderr, "[{}] {}\n", agent.ranks.host, line); });
      agent.child.out.read([&](std::string_view line) { hear(agent, line); });
      if (agent.child.out.descriptor() < 0) agent_is_gone(agent);
    }
    std::fflush(stdout);
  }

  void hear(Agent& agent, std::string_view line) {
    if (!agent.port) {  // what a login shell says before
      agent.port = parse_greeting(line);
      return;
    }
    const auto event = parse_event(line);
    if (!event || event->rank >= plan_.ranks) return;
    Rank& rank = ranks_[static_cast<size_t>(event->rank)];
    switch (event->kind) {
      case RankEvent::Kind::Out:
        return show(event->rank, stdout, event->text);
      case RankEvent::Kind::Err:
        return show(event->rank, stderr, event->text);
      case RankEvent::Kind::Note:
        return heed(rank, parse_note(event->text));
      case RankEvent::Kind::Exited:
        rank.text = fmt::format("ended with exit code {}", event->number);
        return ended(rank, Rank::State::Ended, event->number);
      case RankEvent::Kind::Killed: {
        const char* name = ::sigabbrev_np(event->number);
        rank.text = fmt::format("was killed by SIG{}", name != nullptr ? name : "?");
        return ended(rank, Rank::State::Ended, -event->number);
      }
    }
  }

  static void show(int rank, FILE* stream, const std::string& line) {
    if (rank > 0) return fmt::print(stderr, "[{}] {}\n", rank, line);
    fmt::print(stream, "{}\n", line);
  }

  int number_of(const Rank& rank) const { return static_cast<int>(&rank - ranks_.data()); }

  void heed(Rank& rank, const RankNote& note) {
    if (note.refusal) rank.refusal = *note.refusal;
    if (!note.lost || *note.lost < 0 || *note.lost >= plan_.ranks) return;
    ranks_[static_cast<size_t>(*note.lost)].lost = true;
    if (!first_lost_) first_lost_ = *note.lost;
  }

  void ended(Rank& rank, Rank::State state, int number) {
    rank.state = state;
    rank.number = number;
    if (!rank.failed()) return;
    if (!first_failed_) first_failed_ = Clock::now();
    if (signalled_ == 0) failures_.push_back(number_of(rank));
  }

  void agent_is_gone(Agent& agent) {
    std::string why = agent.port ? "lost the connection to it" : "could not be started there";
    for (int i = 0; i < agent.ranks.count; ++i) {
      Rank& rank = ranks_[static_cast<size_t>(agent.ranks.first + i)];
      if (rank.state != Rank::State::Running) continue;
      if (agent.child.pid > 0) {
        int status = 0;
        ::waitpid(agent.child.pid, &status, 0);
        agent.child.pid = -1;
        if (WIFEXITED(status))
          why += fmt::format(" ({} ended with exit code {})", agent.local ? "its agent" : "ssh",
                             WEXITSTATUS(status));
      }
      rank.text = why;
      ended(rank, Rank::State::Lost, 0);
    }
  }

  void forward(int number) {
    asked_to_ = asked_to_ || number != SIGUSR2;
    tell_all(number);
  }
  void tell_all(int number) {
    for (Agent& agent : agents_)
      if (agent.child.input.is_open() && agent.port)
        write_all(agent.child.input.get(), signal_text(number));
  }

  void end_the_others() {
    if (!first_failed_) return;
    const auto now = Clock::now();
    if (killed_) {
      if (now - *killed_ >= kReach) leave_the_others();
      return;
    }
    const auto since = now - *first_failed_;
    const auto due = [&](int step, seconds after) { return signalled_ == step && since >= after; };
    if (due(0, kSettle)) tell_all(SIGTERM), ++signalled_;
    if (due(1, kSettle + kTerm)) tell_all(SIGTERM), ++signalled_;
    if (!only_lost_left_ &&
        std::ranges::all_of(ranks_, [](const Rank& r) { return !r.is_running() || r.lost; }))
      only_lost_left_ = now;
    if (due(2, kSettle + kTerm + kKill) || (only_lost_left_ && now - *only_lost_left_ >= kLost))
      kill_the_others();
  }

  void kill_the_others() {
    for (Rank& rank : ranks_) {
      if (!rank.is_running()) continue;
      fmt::print(stderr, "ingot launch: rank {} (host {}) does not end: it is killed\n",
                 number_of(rank), host_of(rank));
      rank.killed = true;
    }
    tell_all(SIGKILL);
    killed_ = Clock::now();
  }

  // On machines that cannot even be told.
  void leave_the_others() {
    for (Rank& rank : ranks_) {
      if (!rank.is_running()) continue;
      rank.state = Rank::State::Lost;
      rank.text = "is out of reach";
      failures_.push_back(number_of(rank));
    }
    for (Agent& agent : agents_)
      if (agent.child.pid > 0) ::kill(agent.child.pid, SIGKILL);
  }

  const std::string& host_of(const Rank& rank) const {
    return agents_[static_cast<size_t>(rank.host)].ranks.host;
  }

  // Every refusal once, with the first rank that has it where not all do; false where there is
  // none, or a rank failed otherwise too.
  bool show_refusals() const {
    std::map<std::string, std::vector<int>> ranks_of;
    for (const Rank& rank : ranks_)
      if (!rank.refusal.empty()) ranks_of[rank.refusal].push_back(number_of(rank));
    for (const auto& [why, ranks] : ranks_of) {
      const bool of_all = ranks.size() == ranks_.size();
      const std::string& host = host_of(ranks_[static_cast<size_t>(ranks.front())]);
      show(of_all ? 0 : ranks.front(), stderr,
           fmt::format("ingot: {}{}", of_all || agents_.size() == 1 ? "" : host + ": ", why));
    }
    const auto refused = [](const Rank& rank) {
      return !rank.failed() || rank.number == static_cast<int>(Exit::Usage);
    };
    return !ranks_of.empty() && std::ranges::all_of(ranks_, refused);
  }

  // The failure that began it: of the rank that others lost, or else of ranks that failed by
  // themselves the first; those that end with RankLost only say that another one did.
  LaunchEnd end() const {
    if (show_refusals()) return {Exit::Usage, "", asked_to_};
    const auto own = std::ranges::find_if(failures_, [&](int rank) {
      return ranks_[static_cast<size_t>(rank)].number != static_cast<int>(Exit::RankLost);
    });
    if (failures_.empty()) {
      const bool stopped = std::ranges::any_of(
          ranks_, [](const Rank& r) { return r.number == static_cast<int>(Exit::Stopped); });
      return {stopped ? Exit::Stopped : Exit::Done, "", asked_to_};
    }
    const bool is_lost = first_lost_ && ranks_[static_cast<size_t>(*first_lost_)].failed();
    const int culprit = is_lost ? *first_lost_ : own != failures_.end() ? *own : failures_.front();
    const Rank& rank = ranks_[static_cast<size_t>(culprit)];
    const bool has_code = rank.state == Rank::State::Ended && rank.number > 0;
    const Exit exit = !has_code || rank.number > static_cast<int>(Exit::RankLost)
                          ? Exit::RankLost
                          : static_cast<Exit>(rank.number);
    const bool started = agents_[static_cast<size_t>(rank.host)].port.has_value();
    return {started ? exit : Exit::Failed,
            fmt::format("rank {} (host {}) {}", culprit, host_of(rank), how_it_ended(rank)),
            asked_to_};
  }

  static std::string how_it_ended(const Rank& rank) {
    if (rank.state == Rank::State::Lost) return rank.text;
    if (rank.killed) return "was lost and did not end by itself";
    if (rank.number != static_cast<int>(Exit::RankLost)) return rank.text;
    return (rank.lost ? "was lost; it " : "") + rank.text +
           (rank.lost ? "" : ", since another one was lost");
  }

  const LaunchPlan& plan_;
  SignalQueue& signals_;
  std::vector<Agent> agents_;  // the first has rank 0
  std::vector<Rank> ranks_;
  // Ranks, in their order, before the others were ended; those at last that could not be.
  std::vector<int> failures_;
  std::optional<int> first_lost_;  // as a rank said
  std::optional<Clock::time_point> first_failed_, only_lost_left_, killed_;
  int signalled_ = 0;  // how often the others were asked to end
  bool asked_to_ = false;
};

}  // namespace

LaunchEnd run_attempt(const LaunchPlan& plan, SignalQueue& signals) {
  return Attempt(plan, signals).run();
}

}  // namespace ingot::cli
