#include "cli/launch/agent.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <random>
#include <vector>

#include "cli/launch/agent_words.h"
#include "cli/launch/child.h"
#include "cli/launch/notes.h"
#include "core/error/error.h"

namespace ingot::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace(10);  // from SIGTERM to SIGKILL, when launch is gone

// Nobody listens there now. Below the ports that systems hand out by themselves, so that nobody is
// given it before rank 0 takes it.
int free_port() {
  constexpr int kFirst = 16000, kLast = 31999, kTries = 100;
  std::random_device random;
  std::uniform_int_distribution<int> any(kFirst, kLast);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    const int port = any(random);
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0)
      return port;
  }
  throw Error(ErrorCode::Missing, fmt::format("no free port from {} to {}", kFirst, kLast));
}

class Agent {
 public:
  void run() {
    tell(greeting(free_port()));
    while (!over()) {
      wait();
      if (input_.descriptor() >= 0) input_.read([&](std::string_view line) { hear(line); });
      if (input_.descriptor() < 0) launch_is_gone();
      for (Rank& rank : ranks_) read_output(rank);
      for (const int number : signals_.take())
        if (number == SIGCHLD) reap();
    }
  }

 private:
  struct Rank {
    int number = 0;
    Child child;
    bool running = true;
  };

  // All ranks that there were have ended, or launch went before it said which there are.
  bool over() const {
    const bool asked = !ranks_.empty() || input_.descriptor() < 0;
    return asked && std::ranges::none_of(ranks_, &Rank::running);
  }

  void wait() {
    std::vector<pollfd> waits = {{signals_.descriptor(), POLLIN, 0}};
    const auto add = [&](int descriptor) {
      if (descriptor >= 0) waits.push_back({descriptor, POLLIN, 0});
    };
    add(input_.descriptor());
    for (const Rank& rank : ranks_) {
      add(rank.child.out.descriptor());
      add(rank.child.err.descriptor());
      add(rank.child.notes.descriptor());
    }
    ::poll(waits.data(), waits.size(), end_ ? 100 : -1);
  }

  void hear(std::string_view line) {
    if (const auto number = parse_signal(line)) return signal_all(*number);
    const AgentJob job = parse_job(line);
    for (int i = 0; i < job.count; ++i) start(job, i);
  }

  void start(const AgentJob& job, int local_rank) {
    ChildOptions options{
        .variables = job.variables, .folder = job.folder, .notes_variable = kNotesVariable};
    const auto set = [&](const char* name, int value) {
      options.variables[name] = std::to_string(value);
    };
    set("INGOT_RANK", job.first + local_rank);
    set("INGOT_WORLD", job.world);
    set("INGOT_LOCAL_RANK", local_rank);
    set("INGOT_LOCAL_WORLD", job.count);
    std::vector<std::string> words = {job.program};
    words.insert(words.end(), job.args.begin(), job.args.end());
    ranks_.push_back({job.first + local_rank, start_child(words, options)});
  }

  void signal_all(int number) {
    for (const Rank& rank : ranks_)
      if (rank.running) ::kill(rank.child.pid, number);
  }

  void launch_is_gone() {
    if (!end_) {
      end_ = Clock::now() + kGrace;
      signal_all(SIGTERM);
    } else if (Clock::now() >= *end_) {
      signal_all(SIGKILL);
    }
  }

  void read_output(Rank& rank) {
    const auto pass = [&](RankEvent::Kind kind) {
      return [this, &rank, kind](std::string_view line) {
        tell(to_text(RankEvent{kind, rank.number, std::string(line), 0}));
      };
    };
    rank.child.out.read(pass(RankEvent::Kind::Out));
    rank.child.err.read(pass(RankEvent::Kind::Err));
    rank.child.notes.read(pass(RankEvent::Kind::Note));
  }

  void reap() {
    for (Rank& rank : ranks_) {
      int status = 0;
      if (!rank.running || ::waitpid(rank.child.pid, &status, WNOHANG) != rank.child.pid) continue;
      rank.running = false;
      read_output(rank);
      const bool exited = WIFEXITED(status);
      tell(to_text(RankEvent{exited ? RankEvent::Kind::Exited : RankEvent::Kind::Killed,
                             rank.number, "", exited ? WEXITSTATUS(status) : WTERMSIG(status)}));
    }
  }

  // Where nobody listens any more, the end of stdin says so too.
  static void tell(const std::string& text) { write_all(STDOUT_FILENO, text); }

  SignalQueue signals_{{SIGCHLD}};
  LineReader input_{Descriptor(::dup(STDIN_FILENO))};
  std::vector<Rank> ranks_;
  std::optional<Clock::time_point> end_;  // of the ranks' time to save, once launch is gone
};

}  // namespace

void run_agent() {
  Agent().run();
}

}  // namespace ingot::cli
