// Tracks the pages of keys and values: which are free, which sequences share them, and which tokens
// the cached ones hold.
//
// Each page counts its users: sequences, and the tree of known prefixes. The tree's nodes are
// pages. A path from its root spells a prefix, with kPageTokens ids per page and fewer in a last
// one. A page that only the tree uses is reused when pages run short, the least recently used
// first.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

namespace ingot {

class PageCache {
 public:
  explicit PageCache(int64_t num_pages);

  int64_t size() const { return static_cast<int64_t>(users_.size()); }
  int64_t cached() const { return num_cached_; }  // pages that only the tree uses
  int64_t in_use() const { return size() - available(); }
  int64_t available() const { return static_cast<int64_t>(free_.size()) + num_cached_; }

  // Returns a page whose only user is the caller; -1 if none is available.
  int32_t take();
  void share(int32_t page);
  void release(int32_t page);
  void release(std::vector<int32_t>& pages);  // all, and empties the list

  // The longest known prefix of `tokens`; the caller becomes a user of its pages.
  struct Prefix {
    std::vector<int32_t> pages;  // full ones
    int32_t partial_page = -1;   // its first `partial_tokens` tokens continue the prefix; -1: none
    int64_t partial_tokens = 0;
    int64_t tokens() const;
  };
  Prefix find(std::span<const int32_t> tokens);
  int64_t known_tokens(std::span<const int32_t> tokens) const;  // without becoming a user

  // Adds to the tree that `pages` hold `tokens`, from the beginning of a sequence. If the last page
  // is not full, its owner may continue to write after these tokens.
  void keep(std::span<const int32_t> tokens, std::span<const int32_t> pages);

 private:
  struct Node {
    Node* parent = nullptr;
    int32_t page = -1;
    std::vector<int32_t> tokens;
    std::vector<std::unique_ptr<Node>> children;  // only of a full page
    std::list<Node*>::iterator place;             // in least_recent_
  };
  struct Match {
    Node* node = nullptr;
    size_t tokens = 0;
  };
  static Match best_child(const Node& node, std::span<const int32_t> tokens);
  Node* add_child(Node& parent, std::span<const int32_t> tokens, int32_t page);
  void set_page(Node& node, int32_t page);
  void touch(Node* last);  // and those above it
  void forget_one();

  std::vector<int32_t> users_;  // of each page
  std::vector<bool> in_tree_;   // of each page
  std::vector<int32_t> free_;
  int64_t num_cached_ = 0;
  Node root_;
  std::list<Node*> least_recent_;  // first
};

}  // namespace ingot
