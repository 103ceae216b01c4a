// Which pages of keys and values are free, which sequences share them, and which tokens the kept
// ones hold.
//
// A page counts its users: sequences, and the tree of known prefixes. The tree's nodes are pages; a
// path from its root spells a prefix, kPageTokens ids a page, fewer in a last one. A page that only
// the tree uses is free when needed: the least recently used ones go first.
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
  int64_t cached() const { return num_cached_; }  // that only the tree uses
  int64_t in_use() const { return size() - available(); }
  int64_t available() const { return static_cast<int64_t>(free_.size()) + num_cached_; }

  // A page with one user, the caller; -1 if none is available.
  int32_t take();
  void share(int32_t page);
  void release(int32_t page);
  void release(std::vector<int32_t>& pages);  // all, and empties the list

  // The longest known prefix of `tokens`, of which the caller becomes a user.
  struct Prefix {
    std::vector<int32_t> pages;  // full ones
    int32_t partial_page = -1;   // holds `partial_tokens` more at its beginning; -1: none
    int64_t partial_tokens = 0;
    int64_t tokens() const;
  };
  Prefix find(std::span<const int32_t> tokens);
  int64_t known_tokens(std::span<const int32_t> tokens) const;  // without becoming a user

  // The tree learns that `pages` hold `tokens`, from the first one. The owner of a last page that
  // is not full may keep writing behind these tokens.
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
