// What a rank tells `ingot launch` beside its output: by a pipe, whose number launch leaves in a
// variable.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ingot::cli {

inline constexpr const char* kNotesVariable = "INGOT_NOTES_PIPE";

// A rank refuses the run: launch shows why, once. False where no launch listens.
bool note_refusal(const std::string& why);
// This rank has lost another one.
void note_lost_rank(int rank);

// A note as launch reads it: one of the two.
struct RankNote {
  std::optional<std::string> refusal;
  std::optional<int> lost;
};
RankNote parse_note(std::string_view line);

}  // namespace ingot::cli
