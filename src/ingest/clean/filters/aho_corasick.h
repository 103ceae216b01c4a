// Finds any of many strings in one pass over a text (Aho and Corasick, 1975).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

class AhoCorasick {
 public:
  // Skips empty patterns. The automaton takes 4 bytes per pair of a state and a byte that occurs in
  // the patterns; the number of states is at most the patterns' total length.
  explicit AhoCorasick(const std::vector<std::string>& patterns);

  bool empty() const { return states_.size() == 1; }

  // Calls found(begin, end) for every occurrence, ordered by end and longest first, until it
  // returns true. Returns whether it did.
  template <class Found>
  bool find(std::string_view text, Found found) const {
    uint32_t state = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      state = next_[state * num_classes_ + classes_[static_cast<unsigned char>(text[i])]];
      for (uint32_t s = states_[state].match; s != 0; s = states_[states_[s].suffix].match) {
        if (found(i + 1 - states_[s].depth, i + 1)) return true;
      }
    }
    return false;
  }

 private:
  struct State {
    uint32_t depth = 0;
    uint32_t suffix = 0;  // the longest proper suffix that is a state
    uint32_t match = 0;   // this state or its longest suffix that is a pattern; 0: none
  };

  std::array<uint16_t, 256> classes_{};  // 0: a byte in no pattern
  uint32_t num_classes_ = 1;
  std::vector<State> states_;
  std::vector<uint32_t> next_;
};

}  // namespace ingot
