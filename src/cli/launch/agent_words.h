// What `ingot launch` and its agents say to each other: an agent is the part of it that starts the
// ranks of one machine, there or behind ssh.
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

// To an agent, one line of JSON on its stdin, where a secret is nobody else's to see.
struct AgentJob {
  std::string folder, program;
  std::vector<std::string> args;                 // of the program
  std::map<std::string, std::string> variables;  // of every rank, besides its own
  int first = 0, count = 0, world = 0;           // its ranks
};
std::string to_text(const AgentJob& job);
AgentJob parse_job(std::string_view line);  // throws ErrorCode::Data

// To an agent, after that: a signal for its ranks. The end of its stdin ends them.
std::string signal_text(int number);
std::optional<int> parse_signal(std::string_view line);

// From an agent: a line of output of a rank, a note of it (notes.h), or how it ended.
struct RankEvent {
  enum class Kind { Out, Err, Note, Exited, Killed };
  Kind kind = Kind::Out;
  int rank = 0;
  std::string text;  // of Out, Err and Note
  int number = 0;    // exit code or signal
  bool is_line() const { return kind <= Kind::Note; }
};
std::string to_text(const RankEvent& event);
std::optional<RankEvent> parse_event(std::string_view line);

}  // namespace ingot::cli
