// Maps strings to numbers byte by byte: a double array, one memory access per byte.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot {

class DoubleArray {
 public:
  using Node = uint32_t;  // index of a node
  static constexpr Node kRoot = 256;
  static constexpr Node kNone = 0;
  static constexpr int32_t kMaxValues = 1 << 22;

  DoubleArray() : DoubleArray(std::vector<std::pair<std::string_view, int32_t>>{}) {}
  // Keys are distinct and not empty, values below kMaxValues. Keeps no reference to the keys.
  explicit DoubleArray(std::vector<std::pair<std::string_view, int32_t>> entries);

  Node child(Node node, uint8_t byte) const {
    const Node at = units_[node].children ^ byte;
    return units_[at].label == byte ? at : kNone;
  }
  // Prefetches the cache line that child() will read.
  void prefetch_child(Node node, uint8_t byte) const {
    __builtin_prefetch(&units_[units_[node].children ^ byte]);
  }
  int32_t value(Node node) const { return units_[node].value; }  // -1: no key ends here

  // The node of a text, starting at the root; kNone: none.
  Node walk(std::string_view text) const {
    Node node = kRoot;
    for (size_t i = 0; i < text.size() && node != kNone; ++i) {
      node = child(node, static_cast<uint8_t>(text[i]));
    }
    return node;
  }
  int32_t find(std::string_view text) const { return value(walk(text)); }  // -1: no key

  // Length of the longest key at the start of the text; 0: none.
  size_t longest_prefix(std::string_view text) const {
    size_t longest = 0;
    Node node = kRoot;
    for (size_t i = 0; i < text.size(); ++i) {
      node = child(node, static_cast<uint8_t>(text[i]));
      if (node == kNone) break;
      if (value(node) >= 0) longest = i + 1;
    }
    return longest;
  }

 private:
  static constexpr uint16_t kNoLabel = 256;
  // The child for byte b is unit children ^ b, if its label is b. No two nodes with children share
  // the same `children`, so the label identifies the parent.
  struct Unit {
    uint32_t children = 0;
    uint32_t label : 9 = kNoLabel;
    int32_t value : 23 = -1;
  };
  static_assert(sizeof(Unit) == 8);
  std::vector<Unit> units_;  // whole blocks of 256; the first is empty: for nodes without children
};

}  // namespace ingot
