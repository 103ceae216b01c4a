// The protocol between `ingot launch` and its agents. An agent is the part of launch that starts
// the ranks of one machine, locally or over ssh.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

// From an agent, before anything else: "ingot-agent PORT"; the port is free on its machine.
std::string greeting(int port);
std::optional<int> parse_greeting(std::string_view line);

// To an agent: one line of JSON on its stdin, which nobody else can read, since it holds a secret.
struct AgentJob {
  std::string folder, program;
  std::vector<std::string> args;                 // of the program
  std::map<std::string, std::string> variables;  // of every rank; each also has its own
  int first = 0, count = 0, world = 0;           // ranks [first, first + count) of `world`
};
std::string to_text(const AgentJob& job);
AgentJob parse_job(std::string_view line);  // throws ErrorCode::Data

// To an agent, after its job: a signal for its ranks. The end of its stdin ends the ranks.
std::string signal_text(int number);
std::optional<int> parse_signal(std::string_view line);

// From an agent: a rank's line of output, its note (notes.h), or how it ended.
struct RankEvent {
  enum class Kind { Out, Err, Note, Exited, Killed };
  Kind kind = Kind::Out;
  int rank = 0;
  std::string text;  // for Out, Err and Note
  int number = 0;    // exit code or signal
  bool is_line() const { return kind <= Kind::Note; }
};
std::string to_text(const RankEvent& event);
std::optional<RankEvent> parse_event(std::string_view line);

}  // namespace ingot::cli
