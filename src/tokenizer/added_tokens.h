// Finds added tokens in text, as Hugging Face tokenizers does.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/trusted_text.h"

namespace ingot {

// A token that is cut out of the text before anything else, as in Hugging Face tokenizers.
struct AddedToken {
  std::string content;
  int32_t id = -1;
  bool special = false;      // only encode_with_specials() finds it, in trusted text; decodes to
                             // nothing
  bool normalized = false;   // searched in the normalised text, not in the original
  bool lstrip = false;       // includes the spaces before it
  bool rstrip = false;       // includes the spaces after it
  bool single_word = false;  // only between characters that are not \w
};

// Finds the leftmost token of a set; if several start there, the longest.
class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }

  struct Found {
    size_t begin, end;  // including spaces for lstrip and rstrip; empty: nothing is left of it
    size_t resume;      // where to search next: rstrip's spaces may contain one, as in HF
    int32_t id;
  };
  // The first token at or after `from` in `text`. lstrip never reaches before `taken`.
  std::optional<Found> find(std::string_view text, const TrustedText& trusted, size_t from,
                            size_t taken) const;
  bool has_special() const;

 private:
  size_t next_candidate(std::string_view text, size_t from) const;
  const AddedToken* longest_at(std::string_view text, const TrustedText& trusted, size_t at) const;

  std::vector<AddedToken> tokens_;                 // sorted by content
  std::array<std::vector<size_t>, 256> sizes_of_;  // by first byte, longest first
  std::string first_bytes_;
  std::bitset<1 << 16> first_two_;  // the first two bytes of tokens
};

// The tokens searched before the text is normalised, and those searched after.
struct AddedTokenFinders {
  using Normalize = std::function<std::string(const std::string&)>;  // of a token's spelling
  AddedTokenFinders(const std::vector<AddedToken>& tokens, bool with_specials,
                    const Normalize& normalize);

  // Which bytes of a part's normal form are trusted. `part` is a view into `text`.
  TrustedText trusted_in(std::string_view part, std::string_view normal_form, std::string_view text,
                         const TrustedText& trusted, const Normalize& normalize) const;

  AddedTokenFinder raw, normalized;
};

// In order: calls on_text for the text between tokens, on_id for each token.
template <class OnText, class OnId>
void cut_out(std::string_view text, const TrustedText& trusted, const AddedTokenFinder& finder,
             OnText on_text, OnId on_id) {
  size_t begin = 0;
  for (size_t from = 0; !finder.empty();) {
    const auto found = finder.find(text, trusted, from, begin);
    if (!found) break;
    if (found->begin > begin) on_text(text.substr(begin, found->begin - begin));
    if (found->begin < found->end) on_id(found->id);
    begin = found->end;
    from = found->resume;
  }
  if (begin < text.size()) on_text(text.substr(begin));
}

}  // namespace ingot
