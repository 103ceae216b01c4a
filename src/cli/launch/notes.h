// What a rank tells `ingot launch` besides its output, over a pipe. launch leaves the number of the
// pipe in a variable.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ingot::cli {

inline constexpr const char* kNotesVariable = "INGOT_NOTES_PIPE";

// Tells launch that this rank refuses the run; launch shows the reason once. False without launch.
bool note_refusal(const std::string& why);
// Tells launch that this rank has lost another one.
void note_lost_rank(int rank);

// A note that launch has read; it has one of the two.
struct RankNote {
  std::optional<std::string> refusal;
  std::optional<int> lost;
};
RankNote parse_note(std::string_view line);

}  // namespace ingot::cli
