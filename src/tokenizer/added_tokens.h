// Added tokens found in text, as Hugging Face tokenizers does it.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/bpe_model.h"

namespace ingot {

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

}  // namespace ingot
