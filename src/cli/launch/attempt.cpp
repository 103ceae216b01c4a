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

#include "cli/launch/agent_words.h"
#include "core/error.h"
#include "core/hex.h"

namespace ingot::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr seconds kGreeting(60);  // until an agent answers
// After the first rank that failed. To a run the first SIGTERM means to save, if it still can, and
// the second to end at once.
constexpr seconds kSettle(3);  // for the others to end by themselves
constexpr seconds kTerm(2);    // to the second SIGTERM
constexpr seconds kKill(10);   // to SIGKILL

std::string random_secret() {
  std::array<uint64_t, 2> bits{};
  std::ifstream random("/dev/urandom", std::ios::binary);
  random.read(reinterpret_cast<char*>(bits.data()), sizeof(bits));
  check(random.good(), ErrorCode::Storage, "cannot read /dev/urandom");
  return hex(bits[0]) + hex(bits[1]);
}

// For the shell that ssh starts.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

struct Rank {
  enum class State { Running, Ended, Lost };
  State state = State::Running;
  int host = 0;
  int number = 0;         // exit code, or -signal
  std::string text = {};  // how it ended, of one that failed
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
    while (!answered() && !first_failed_) {
      listen();
      if (Clock::now() >= late) return no_answer();
    }
    if (first_failed_) return end();  // before any rank was started
    send_jobs();
    while (
        std::ranges::any_of(ranks_, [](const Rank& r) { return r.state == Rank::State::Running; }))
      listen(), end_the_others();
    return end();
  }

 private:
  void start(Agent& agent) {
    std::vector<std::string> words;
    if (!agent.local) {
      words = plan_.ssh;
      words.insert(words.end(),
                   {"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-T", agent.ranks.host, "--",
                    quoted(plan_.program), "launch", "--agent"});
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
      case RankEvent::Kind::Err:
        return pass_on(*event);
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

  static void pass_on(const RankEvent& event) {
    if (event.rank > 0) return fmt::print(stderr, "[{}] {}\n", event.rank, event.text);
    fmt::print(event.kind == RankEvent::Kind::Out ? stdout : stderr, "{}\n", event.text);
  }

  void ended(Rank& rank, Rank::State state, int number) {
    rank.state = state;
    rank.number = number;
    if (!rank.failed()) return;
    if (!first_failed_) first_failed_ = Clock::now();
    if (signalled_ == 0) failures_.push_back(static_cast<int>(&rank - ranks_.data()));
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
    const auto since = Clock::now() - *first_failed_;
    const auto due = [&](int step, seconds after) { return signalled_ == step && since >= after; };
    if (due(0, kSettle)) tell_all(SIGTERM), ++signalled_;
    if (due(1, kSettle + kTerm)) tell_all(SIGTERM), ++signalled_;
    if (due(2, kSettle + kTerm + kKill)) tell_all(SIGKILL), ++signalled_;
    // A machine that cannot even be told.
    if (due(3, kSettle + kTerm + kKill + kSettle)) {
      for (size_t i = 0; i < ranks_.size(); ++i) {
        if (ranks_[i].state != Rank::State::Running) continue;
        ranks_[i].state = Rank::State::Lost;
        ranks_[i].text = "is out of reach";
        failures_.push_back(static_cast<int>(i));
      }
      for (Agent& agent : agents_)
        if (agent.child.pid > 0) ::kill(agent.child.pid, SIGKILL);
    }
  }

  // The failure that began it: of ranks that failed by themselves the first; those that end with
  // RankLost only say that another one did.
  LaunchEnd end() const {
    const auto own = std::ranges::find_if(failures_, [&](int rank) {
      return ranks_[static_cast<size_t>(rank)].number != static_cast<int>(Exit::RankLost);
    });
    if (failures_.empty()) {
      const bool stopped = std::ranges::any_of(
          ranks_, [](const Rank& r) { return r.number == static_cast<int>(Exit::Stopped); });
      return {stopped ? Exit::Stopped : Exit::Done, "", asked_to_};
    }
    const int culprit = own != failures_.end() ? *own : failures_.front();
    const Rank& rank = ranks_[static_cast<size_t>(culprit)];
    const bool has_code = rank.state == Rank::State::Ended && rank.number > 0;
    const Exit exit = !has_code || rank.number > static_cast<int>(Exit::RankLost)
                          ? Exit::RankLost
                          : static_cast<Exit>(rank.number);
    const bool started = agents_[static_cast<size_t>(rank.host)].port.has_value();
    return {started ? exit : Exit::Failed,
            fmt::format("rank {} (host {}) {}{}", culprit,
                        agents_[static_cast<size_t>(rank.host)].ranks.host, rank.text,
                        own != failures_.end() ? "" : ", since another one was lost"),
            asked_to_};
  }

  const LaunchPlan& plan_;
  SignalQueue& signals_;
  std::vector<Agent> agents_;  // the first has rank 0
  std::vector<Rank> ranks_;
  // Ranks, in their order, before the others were ended; those at last that could not be.
  std::vector<int> failures_;
  std::optional<Clock::time_point> first_failed_;
  int signalled_ = 0;  // how often the others were asked to end
  bool asked_to_ = false;
};

}  // namespace

LaunchEnd run_attempt(const LaunchPlan& plan, SignalQueue& signals) {
  return Attempt(plan, signals).run();
}

}  // namespace ingot::cli
