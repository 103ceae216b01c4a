#include "tokenizer/sentencepiece/trie.h"

#include <algorithm>
#include <array>
#include <bit>

namespace ingot {
namespace {

constexpr uint32_t kBlock = 256;

struct Bits {  // one for each unit of a block
  std::array<uint64_t, kBlock / 64> words{};
  void set(uint32_t i) { words[i / 64] |= uint64_t{1} << i % 64; }
  bool operator[](uint32_t i) const { return (words[i / 64] >> i % 64 & 1) != 0; }
};

// Bit i of the result is bit i ^ byte of the argument: halves, quarters and so on change places.
Bits exchanged(const Bits& bits, uint8_t byte) {
  constexpr uint64_t kLower[] = {0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F,
                                 0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0x00000000FFFFFFFF};
  Bits result;
  for (size_t i = 0; i < bits.words.size(); ++i) {
    uint64_t word = bits.words[i ^ byte / 64];
    for (int k = 0; k < 6; ++k) {
      if ((byte >> k & 1) == 0) continue;
      word = (word & kLower[k]) << (1 << k) | (word >> (1 << k) & kLower[k]);
    }
    result.words[i] = word;
  }
  return result;
}

// Which units are taken. A node's children lie in one block, at places that differ from a number of
// their parent's own by their bytes.
class Places {
 public:
  Places() : blocks_(2), open_{1} { blocks_[1].taken.set(DoubleArray::kRoot % kBlock); }

  // A number not given before, such that the units number ^ byte are free for all bytes; takes
  // them. An only child is put into its parent's cache line or soon after: most nodes are links in
  // a chain of such, and a walk down a chain then costs a cache miss for every eight.
  uint32_t take(const std::vector<uint8_t>& bytes, uint32_t parent) {
    if (bytes.size() == 1) {
      const Block& block = blocks_[parent / kBlock];
      for (uint32_t at = parent % kBlock & ~(kLine - 1); at < kBlock; ++at) {
        if (!block.taken[at] && !block.given[at ^ bytes[0]]) {
          return take(parent / kBlock, at ^ bytes[0], bytes);
        }
      }
    }
    for (size_t i = first_open_; i < open_.size(); ++i) {
      Block& block = blocks_[open_[i]];
      Bits refused = block.given;
      for (const uint8_t byte : bytes) {
        const Bits taken = exchanged(block.taken, byte);
        for (size_t w = 0; w < taken.words.size(); ++w) refused.words[w] |= taken.words[w];
      }
      for (uint32_t w = 0; w < refused.words.size(); ++w) {
        if (~refused.words[w] == 0) continue;
        const auto bit = static_cast<uint32_t>(std::countr_one(refused.words[w]));
        return take(open_[i], w * 64 + bit, bytes);
      }
      // A block that refuses often is nearly full: no longer asked.
      if (++block.num_refusals == kMaxRefusals) open_[i] = open_[first_open_++];
    }
    open_.push_back(static_cast<uint32_t>(blocks_.size()));
    blocks_.emplace_back();
    return take(open_.back(), 0, bytes);
  }
  size_t num_units() const { return blocks_.size() * kBlock; }

 private:
  static constexpr int kMaxRefusals = 16;
  static constexpr uint32_t kLine = 8;  // units
  struct Block {
    Bits taken, given;
    int num_refusals = 0;
  };

  uint32_t take(uint32_t block, uint32_t number, const std::vector<uint8_t>& bytes) {
    blocks_[block].given.set(number);
    for (const uint8_t byte : bytes) blocks_[block].taken.set(number ^ byte);
    return block * kBlock | number;
  }

  std::vector<Block> blocks_;
  std::vector<uint32_t> open_;  // blocks with room, from first_open_ on
  size_t first_open_ = 0;
};

}  // namespace

DoubleArray::DoubleArray(std::vector<std::pair<std::string_view, int32_t>> entries) {
  std::sort(entries.begin(), entries.end());
  struct Task {  // the keys of [begin, end) share `depth` bytes, which lead to `node`
    size_t begin, end, depth;
    Node node;
  };
  Places places;
  units_.resize(places.num_units());
  std::vector<Task> tasks{{0, entries.size(), 0, kRoot}};
  std::vector<uint8_t> bytes;
  std::vector<size_t> ends;
  while (!tasks.empty()) {
    auto [begin, end, depth, node] = tasks.back();
    tasks.pop_back();
    if (begin < end && entries[begin].first.size() == depth) {
      units_[node].value = entries[begin].second & (kMaxValues - 1);
      ++begin;
    }
    bytes.clear();
    ends.clear();
    for (size_t i = begin; i < end; ++i) {
      const auto byte = static_cast<uint8_t>(entries[i].first[depth]);
      if (bytes.empty() || bytes.back() != byte) {
        bytes.push_back(byte);
        ends.push_back(i);
      }
      ends.back() = i + 1;
    }
    if (bytes.empty()) continue;
    const uint32_t number = places.take(bytes, node);
    units_.resize(places.num_units());
    units_[node].children = number;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const Node next = number ^ bytes[i];
      units_[next].label = bytes[i];
      tasks.push_back({i == 0 ? begin : ends[i - 1], ends[i], depth + 1, next});
    }
  }
}

}  // namespace ingot
