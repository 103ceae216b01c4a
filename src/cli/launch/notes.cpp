#include "cli/launch/notes.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "cli/launch/child.h"

namespace ingot::cli {
namespace {

constexpr std::string_view kRefuses = "refuses ", kLost = "lost ";

bool note(const std::string& line) {
  const char* pipe = std::getenv(kNotesVariable);
  return pipe != nullptr && write_all(std::atoi(pipe), line + "\n");
}

}  // namespace

bool note_refusal(const std::string& why) {
  return note(fmt::format("{}{}", kRefuses, why));
}

void note_lost_rank(int rank) {
  note(fmt::format("{}{}", kLost, rank));
}

RankNote parse_note(std::string_view line) {
  RankNote note;
  if (line.starts_with(kRefuses)) note.refusal = line.substr(kRefuses.size());
  if (!line.starts_with(kLost)) return note;
  int rank = 0;
  const std::string_view number = line.substr(kLost.size());
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
  if (error == std::errc() && end == number.data() + number.size()) note.lost = rank;
  return note;
}

}  // namespace ingot::cli
