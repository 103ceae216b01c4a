#include "tokenizer/bpe/split.h"
#include <algorithm>
#include <array>

#include "core/error/error.h"
#include "tokenizer/bpe/split_window.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace {

struct Spelling {
  Split split;
  std::string_view regex;
};

#define INGOT_CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define INGOT_WORD "[^\\r\\n\\p{L}\\p{N}]?"
#define INGOT_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define INGOT_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define INGOT_SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

// As Oniguruma, which Hugging Face uses, reads them: tiktoken's \p{N}{1,3}+ would be any number of
// digits there. The first of each split is the one we write.
constexpr Spelling kSpellings[] = {
    {Split::Gpt2,
     "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"},
    {Split::Gpt2,
     "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"},
    {Split::Gpt2,
     "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s"},
    {Split::Cl100k,
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}|"
     " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s"},
    {Split::Llama3, INGOT_CONTRACTIONS "|" INGOT_WORD "\\p{L}+|\\p{N}{1,3}|"
                                       " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" INGOT_SPACES},
    {Split::Llama3,
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}|"
     " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
    {Split::Qwen2, INGOT_CONTRACTIONS "|" INGOT_WORD "\\p{L}+|\\p{N}|"
                                      " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" INGOT_SPACES},
    {Split::O200k,
     INGOT_WORD INGOT_UPPER "*" INGOT_LOWER "+" INGOT_CONTRACTIONS "?|" INGOT_WORD INGOT_UPPER
                            "+" INGOT_LOWER "*" INGOT_CONTRACTIONS "?|\\p{N}{1,3}|"
                            " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" INGOT_SPACES},
    {Split::Nanochat,
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,2}|"
     " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
};

// A cut is looked for so far back; text without one in this stretch is not worth more.
constexpr size_t kCutSearchBytes = 1 << 16;

bool may_cut(std::string_view before, std::string_view after) {
  const Character next = first_character(after);
  if (next.classes & (kLetter | kMark) || next.code_point == '\'') return false;
  return last_character(before).classes & kLetter;
}

}  // namespace

std::string_view name_of(Split split) {
  switch (split) {
    case Split::None:
      return "none";
    case Split::Gpt2:
      return "gpt2";
    case Split::Cl100k:
      return "cl100k";
    case Split::Llama3:
      return "llama3";
    case Split::Qwen2:
      return "qwen2";
    case Split::O200k:
      return "o200k";
    case Split::Nanochat:
      return "nanochat";
  }
  return "unknown";
}

std::vector<std::string> split_names() {
  std::vector<std::string> names;
  for (const Split split : kAllSplits) names.emplace_back(name_of(split));
  return names;
}

std::string_view pattern_of(Split split) {
  const auto* found = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                                   [&](const Spelling& s) { return s.split == split; });
  return found == std::end(kSpellings) ? std::string_view() : found->regex;
}

std::optional<Split> split_named(std::string_view name) {
  for (const Split split : kAllSplits) {
    if (name_of(split) == name) return split;
  }
  return std::nullopt;
}

std::optional<Split> split_of_pattern(std::string_view regex) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.regex == regex) return spelling.split;
  }
  return std::nullopt;
}

size_t split_some(Split split, std::string_view text, std::span<uint32_t> ends) {
  return INGOT_CPU_DISPATCH(split_windows, split, text, ends);
}

void split_text(Split split, std::string_view text, std::vector<uint32_t>& ends) {
  check(text.size() <= UINT32_MAX, ErrorCode::Data,
        "text to split in one call: expected less than 4 GiB, got {} bytes; cut it first",
        text.size());
  std::array<uint32_t, 1024> some;
  for (size_t begin = 0; begin < text.size();) {
    const size_t count = split_some(split, text.substr(begin), some);
    for (size_t i = 0; i < count; ++i) ends.push_back(static_cast<uint32_t>(begin) + some[i]);
    begin += some[count - 1];
  }
}

size_t safe_cut(Split split, std::string_view text, size_t limit) {
  if (split == Split::None) return 0;
  const size_t lowest = limit > kCutSearchBytes ? limit - kCutSearchBytes : 0;
  for (size_t cut = std::min(limit, text.size()); cut > lowest; --cut) {
    if (cut < text.size() && may_cut(text.substr(0, cut), text.substr(cut))) return cut;
  }
  return 0;
}

}  // namespace ingot
