// Cuts text into the pieces inside which BPE merges: the published patterns as scanners, not
// regexes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Whose pattern (docs/tokenizer.md has them). Cl100k is tiktoken's since October 2024; Llama3 is
// also cl100k's from before. None: the text is one piece.
enum class Split { None, Gpt2, Cl100k, Llama3, Qwen2, O200k, Nanochat };

inline constexpr Split kAllSplits[] = {Split::None,  Split::Gpt2,  Split::Cl100k,  Split::Llama3,
                                       Split::Qwen2, Split::O200k, Split::Nanochat};

std::string_view name_of(Split split);     // "none", "gpt2", "cl100k", …
std::vector<std::string> split_names();    // of all
std::string_view pattern_of(Split split);  // the regex as tokenizer files write it; None: empty
std::optional<Split> split_named(std::string_view name);
// Of a tokenizer.json. Knows the published spellings of each pattern, not equivalent ones.
std::optional<Split> split_of_pattern(std::string_view regex);

// Appends the end of each piece, in bytes from the start of `text`; pieces follow each other
// without gaps and the last ends with the text. Any bytes may come: one that is no part of valid
// UTF-8 counts as a character that is neither letter, number nor space. Linear time, no recursion.
// `text` must be shorter than 4 GiB.
void split_text(Split split, std::string_view text, std::vector<uint32_t>& ends);

// The same for the first pieces only: fills `ends`, which must hold at least 64, in part or in
// full, and returns how many it wrote; 0 when `text` is empty. The rest of the text starts at the
// last end.
size_t split_some(Split split, std::string_view text, std::span<uint32_t> ends);

// The last place in (0, limit] where `text` may be cut so that both parts split into the pieces
// that the whole has, whatever stands before and after it: between a letter and a character that
// cannot belong to the same piece. 0 when there is none. Looks at a bounded stretch before `limit`.
size_t safe_cut(Split split, std::string_view text, size_t limit);

}  // namespace ingot
