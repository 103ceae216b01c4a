#include "infer/page_cache.h"

#include <algorithm>

#include "core/error/error.h"
#include "core/tensor/kv_page.h"

namespace ingot {
namespace {

constexpr auto kFull = static_cast<size_t>(kPageTokens);

size_t common_prefix(std::span<const int32_t> a, std::span<const int32_t> b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

int64_t PageCache::Prefix::tokens() const {
  return std::ssize(pages) * kPageTokens + partial_tokens;
}

PageCache::PageCache(int64_t num_pages)
    : users_(static_cast<size_t>(num_pages)), in_tree_(static_cast<size_t>(num_pages)) {
  for (auto page = static_cast<int32_t>(num_pages); page-- > 0;) free_.push_back(page);
}

int32_t PageCache::take() {
  if (available() == 0) return -1;
  if (free_.empty()) forget_one();
  const int32_t page = free_.back();
  free_.pop_back();
  users_[static_cast<size_t>(page)] = 1;
  return page;
}

void PageCache::share(int32_t page) {
  const auto p = static_cast<size_t>(page);
  if (users_[p]++ == 1 && in_tree_[p]) --num_cached_;
}

void PageCache::release(int32_t page) {
  const auto p = static_cast<size_t>(page);
  check(users_[p] > 0, ErrorCode::Internal, "page {} is released more often than shared", page);
  if (--users_[p] == 0)
    free_.push_back(page);
  else if (users_[p] == 1 && in_tree_[p])
    ++num_cached_;
}

void PageCache::release(std::vector<int32_t>& pages) {
  for (const int32_t page : pages) release(page);
  pages.clear();
}

PageCache::Match PageCache::best_child(const Node& node, std::span<const int32_t> tokens) {
  Match best;
  for (const auto& child : node.children)
    if (const size_t n = common_prefix(child->tokens, tokens); n > best.tokens)
      best = {child.get(), n};
  return best;
}

PageCache::Prefix PageCache::find(std::span<const int32_t> tokens) {
  Prefix found;
  Node* node = &root_;
  while (true) {
    const Match match = best_child(*node, tokens);
    if (match.tokens == 0) break;
    node = match.node;
    share(node->page);
    if (match.tokens < kFull) {
      found.partial_page = node->page;
      found.partial_tokens = static_cast<int64_t>(match.tokens);
      break;
    }
    found.pages.push_back(node->page);
    tokens = tokens.subspan(kFull);
  }
  touch(node);
  return found;
}

int64_t PageCache::known_tokens(std::span<const int32_t> tokens) const {
  const Node* node = &root_;
  int64_t known = 0;
  while (true) {
    const Match match = best_child(*node, tokens);
    known += static_cast<int64_t>(match.tokens);
    if (match.tokens < kFull) return known;
    node = match.node;
    tokens = tokens.subspan(kFull);
  }
}

void PageCache::keep(std::span<const int32_t> tokens, std::span<const int32_t> pages) {
  Node* node = &root_;
  for (const int32_t page : pages) {
    const auto own = tokens.first(std::min(kFull, tokens.size()));
    if (own.empty()) break;
    const auto before =
        std::ranges::find(node->children, page, [](const auto& child) { return child->page; });
    // What is known of this page itself, which has more tokens by now, or of another one.
    const Match match = before != node->children.end()
                            ? Match{before->get(), std::min(own.size(), (*before)->tokens.size())}
                            : best_child(*node, own);
    if (match.tokens == own.size()) {
      node = match.node;
    } else if (match.node != nullptr && match.tokens == match.node->tokens.size()) {
      node = match.node;  // fewer of the same tokens
      node->tokens.assign(own.begin(), own.end());
      set_page(*node, page);
    } else {
      node = add_child(*node, own, page);
    }
    tokens = tokens.subspan(own.size());
    if (own.size() < kFull) break;
  }
  touch(node);
}

PageCache::Node* PageCache::add_child(Node& parent, std::span<const int32_t> tokens, int32_t page) {
  auto node = std::make_unique<Node>();
  node->parent = &parent;
  node->tokens.assign(tokens.begin(), tokens.end());
  node->place = least_recent_.insert(least_recent_.end(), node.get());
  parent.children.push_back(std::move(node));
  set_page(*parent.children.back(), page);
  return parent.children.back().get();
}

void PageCache::set_page(Node& node, int32_t page) {
  if (node.page == page) return;
  share(page);
  in_tree_[static_cast<size_t>(page)] = true;
  if (node.page >= 0) {
    const auto old = static_cast<size_t>(node.page);
    if (users_[old] == 1) --num_cached_;
    in_tree_[old] = false;
    release(node.page);
  }
  node.page = page;
}

// A page is as recent as those behind it, so that a path is forgotten from its end.
void PageCache::touch(Node* last) {
  for (Node* node = last; node != &root_; node = node->parent)
    least_recent_.splice(least_recent_.end(), least_recent_, node->place);
}

void PageCache::forget_one() {
  const auto found = std::ranges::find_if(least_recent_, [&](const Node* node) {
    return node->children.empty() && users_[static_cast<size_t>(node->page)] == 1;
  });
  check(found != least_recent_.end(), ErrorCode::Internal, "no page can be forgotten");
  Node* node = *found;
  const auto page = static_cast<size_t>(node->page);
  --num_cached_;
  in_tree_[page] = false;
  release(node->page);
  least_recent_.erase(found);
  std::erase_if(node->parent->children, [&](const auto& child) { return child.get() == node; });
}

}  // namespace ingot
