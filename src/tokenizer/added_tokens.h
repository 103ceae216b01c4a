// Added tokens found in text, as Hugging Face tokenizers does it.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// A token that is cut out of the text before anything else, as Hugging Face tokenizers does it.
struct AddedToken {
  std::string content;
  int32_t id = -1;
  bool special = false;      // only encode_with_specials() finds it; decodes to nothing
  bool normalized = false;   // looked for in the normalised text, not in the original
  bool lstrip = false;       // takes the spaces before it
  bool rstrip = false;       // … and after
  bool single_word = false;  // only between characters that are not \w
};

// Finds the leftmost of a set of tokens, of several that begin there the longest.
class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }

  struct Found {
    size_t begin, end;  // with the spaces that lstrip and rstrip take; empty: nothing is left of it
    size_t resume;      // where to look for the next: rstrip's spaces may hold one, as in HF
    int32_t id;
  };
  // The first at or after `from` in `text`. lstrip takes nothing from before `taken`.
  std::optional<Found> find(std::string_view text, size_t from, size_t taken) const;

 private:
  size_t next_candidate(std::string_view text, size_t from) const;
  const AddedToken* longest_at(std::string_view text, size_t at) const;

  std::vector<AddedToken> tokens_;                 // sorted by content
  std::array<std::vector<size_t>, 256> sizes_of_;  // by first byte, the longest first
  std::string first_bytes_;
  std::bitset<1 << 16> first_two_;  // bytes a token may begin with
};

// The tokens that are looked for before the text is normalised, and after.
struct AddedTokenFinders {
  using Normalize = std::function<std::string(const std::string&)>;  // a token as it is then spelt
  AddedTokenFinders(const std::vector<AddedToken>& tokens, bool with_specials,
                    const Normalize& normalize);

  AddedTokenFinder raw, normalized;
};

// Calls on_text for what lies between the tokens, on_id for each token, in order.
template <class OnText, class OnId>
void cut_out(std::string_view text, const AddedTokenFinder& finder, OnText on_text, OnId on_id) {
  size_t begin = 0;
  for (size_t from = 0; !finder.empty();) {
    const auto found = finder.find(text, from, begin);
    if (!found) break;
    if (found->begin > begin) on_text(text.substr(begin, found->begin - begin));
    if (found->begin < found->end) on_id(found->id);
    begin = found->end;
    from = found->resume;
  }
  if (begin < text.size()) on_text(text.substr(begin));
}

}  // namespace ingot
