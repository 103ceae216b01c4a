#include "cli/launch/agent_words.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/error/error.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kGreeting = "ingot-agent ", kSignal = "signal ", kKinds = "oenxk";

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && last == end ? std::optional(value) : std::nullopt;
}

std::optional<int> number_after(std::string_view word, std::string_view line) {
  if (!line.starts_with(word)) return std::nullopt;
  return parse_number(line.substr(word.size()));
}

}  // namespace

std::string greeting(int port) {
  return fmt::format("{}{}\n", kGreeting, port);
}

std::optional<int> parse_greeting(std::string_view line) {
  return number_after(kGreeting, line);
}

std::string to_text(const AgentJob& job) {
  return Json{{"folder", job.folder}, {"program", job.program},     {"args", job.args},
              {"first", job.first},   {"variables", job.variables}, {"count", job.count},
              {"world", job.world}}
             .dump() +
         "\n";
}

AgentJob parse_job(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    return {json.at("folder"), json.at("program"), json.at("args"), json.at("variables"),
            json.at("first"),  json.at("count"),   json.at("world")};
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::Data, fmt::format("an agent of ingot launch: expected its job, got "
                                             "something else ({})",
                                             error.what()));
  }
}

std::string signal_text(int number) {
  return fmt::format("{}{}\n", kSignal, number);
}

std::optional<int> parse_signal(std::string_view line) {
  return number_after(kSignal, line);
}

std::string to_text(const RankEvent& event) {
  return fmt::format("{} {} {}\n", kKinds[static_cast<size_t>(event.kind)], event.rank,
                     event.is_line() ? event.text : std::to_string(event.number));
}

std::optional<RankEvent> parse_event(std::string_view line) {
  const size_t kind = line.empty() ? std::string_view::npos : kKinds.find(line[0]);
  const size_t space = line.find(' ', 2);
  if (kind == std::string_view::npos || line.size() < 4 || line[1] != ' ' ||
      space == std::string_view::npos)
    return std::nullopt;
  const auto rank = parse_number(line.substr(2, space - 2));
  const std::string_view rest = line.substr(space + 1);
  RankEvent event{static_cast<RankEvent::Kind>(kind), rank.value_or(-1), "", 0};
  if (event.is_line()) {
    event.text = rest;
  } else {
    const auto number = parse_number(rest);
    if (!number) return std::nullopt;
    event.number = *number;
  }
  return event.rank >= 0 ? std::optional(event) : std::nullopt;
}

}  // namespace ingot::cli
