// Splits text into pieces, within which BPE merges: the published patterns as scanners instead of
// regexes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// The published patterns (docs/tokenizer.md lists them). Cl100k is tiktoken's since October 2024;
// Llama3 is also the earlier cl100k. None: the text is one piece.
enum class Split { None, Gpt2, Cl100k, Llama3, Qwen2, O200k, Nanochat };

inline constexpr Split kAllSplits[] = {Split::None,  Split::Gpt2,  Split::Cl100k,  Split::Llama3,
                                       Split::Qwen2, Split::O200k, Split::Nanochat};

std::string_view name_of(Split split);     // "none", "gpt2", "cl100k", …
std::vector<std::string> split_names();    // all names
std::string_view pattern_of(Split split);  // the regex as in tokenizer files; None: empty
std::optional<Split> split_named(std::string_view name);
// Recognises the regex of a tokenizer.json: the published spellings of each pattern, no equivalent
// ones.
std::optional<Split> split_of_pattern(std::string_view regex);

// Appends the end of each piece in bytes from the start of `text`; pieces are adjacent and the last
// one ends with the text. Accepts any bytes: one that is not valid UTF-8 counts as a character that
// is neither letter, number nor space. Linear time, no recursion. `text` must be shorter than 4
// GiB.
void split_text(Split split, std::string_view text, std::vector<uint32_t>& ends);

// The same for the first pieces: fills `ends` (at least 64 entries) in part or in full, and returns
// the number written; 0 if `text` is empty. The rest of the text starts at the last end.
size_t split_some(Split split, std::string_view text, std::span<uint32_t> ends);

// The last position in (0, limit] where `text` can be cut so that both parts split into the same
// pieces as the whole, whatever surrounds it: between a letter and a character that cannot be in
// the same piece. 0 if there is none. Searches a bounded stretch before `limit`.
size_t safe_cut(Split split, std::string_view text, size_t limit);

}  // namespace ingot
