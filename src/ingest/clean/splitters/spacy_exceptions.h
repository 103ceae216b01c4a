// The exception table of spaCy's English tokenizer: contractions, abbreviations, emoticons.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ingot {

// A set of numbered short strings; a miss, the common case, takes a few nanoseconds.
class ShortStringTable {
 public:
  static constexpr int kAbsent = -1;

  ShortStringTable();
  // Adds `text` unless it exists; returns its number. `text` must outlive the table and is not
  // empty.
  int add(std::string_view text);
  int find(std::string_view text) const { return may_have(text) ? search(text) : kAbsent; }
  int size() const { return static_cast<int>(texts_.size()); }

 private:
  static constexpr size_t kSlots = 8192;
  static constexpr size_t kMaxBytes = 31;
  static uint64_t hash(std::string_view text);

  // Whether a string with this length, first and last byte exists.
  bool may_have(std::string_view text) const {
    if (text.empty() || text.size() > kMaxBytes) return false;
    return ((lengths_by_first_[static_cast<unsigned char>(text.front())] &
             lengths_by_last_[static_cast<unsigned char>(text.back())]) >>
                text.size() &
            1) != 0;
  }
  int search(std::string_view text) const;

  std::array<uint32_t, 256> lengths_by_first_{}, lengths_by_last_{};
  // Tags are separate and small, so that misses stay in the first-level cache.
  std::array<uint8_t, kSlots> tags_;  // 0: free
  std::array<int16_t, kSlots> numbers_;
  std::vector<std::string_view> texts_;
};

class SpacyExceptions {
 public:
  static const SpacyExceptions& english();

  // Its pieces, whose concatenation is `text`; empty if it is not an exception.
  std::span<const std::string_view> pieces(std::string_view text) const {
    const int number = table_.find(text);
    if (number == ShortStringTable::kAbsent) return {};
    const auto [begin, count] = places_[static_cast<size_t>(number)];
    return {pieces_.data() + begin, count};
  }
  bool has(std::string_view text) const { return table_.find(text) != ShortStringTable::kAbsent; }

  // The last pass searches for sequences of at least two tokens. It starts at root() and follows
  // tokens, numbered by token(), from node to node; kNowhere if no sequence continues so.
  static constexpr int kNowhere = -1;
  int root() const { return 0; }
  int token(std::string_view text) const { return tokens_.find(text); }
  int step(int node, int token) const {
    if (token == ShortStringTable::kAbsent) return kNowhere;
    return node == root() ? first_[static_cast<size_t>(token)] : later_step(node, token);
  }
  bool is_end(int node) const { return nodes_[static_cast<size_t>(node)].is_end; }

 private:
  struct Place {
    size_t begin, count;
  };
  struct Node {
    std::vector<std::pair<int, int>> next;  // token, node
    bool is_end = false;
  };

  SpacyExceptions();
  int later_step(int node, int token) const;

  ShortStringTable table_;
  std::vector<std::string_view> pieces_;
  std::vector<Place> places_;  // by number in table_
  ShortStringTable tokens_;
  std::vector<Node> nodes_;
  std::vector<int> first_;  // by token: the edge from the root, which has most of the edges
};

}  // namespace ingot
