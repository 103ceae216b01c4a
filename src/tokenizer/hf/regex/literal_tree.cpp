#include "tokenizer/hf/regex/literal_tree.h"

#include <fmt/ranges.h>

#include <map>
#include <span>
#include <vector>

#include "core/text/utf8.h"
#include "tokenizer/hf/regex/pattern_guard.h"

namespace ingot {
namespace {

constexpr size_t kWorthATree = 8;  // alternatives
constexpr int kMostLevels = 16;    // the engine takes no more than 250

// The alternatives of the whole pattern; none where something in it reaches over them.
std::vector<std::string_view> alternatives_of(std::string_view pattern) {
  std::vector<std::string_view> alternatives;
  size_t begin = 0, depth = 0;
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    const std::string_view rest = pattern.substr(at);
    if (c == '|' && depth == 0) {
      alternatives.push_back(pattern.substr(begin, at - begin));
      begin = at + 1;
    }
    if (c == '(' && rest.starts_with("(?")) {
      // Options up to a ) hold from there on; a comment may hold anything.
      const size_t end = rest.find_first_not_of("imxWDSPyIL-{}gw", 2);
      if (end == std::string_view::npos || rest[end] == ')' || rest[end] == '#') return {};
    }
    depth += c == '(' ? 1 : 0;
    depth -= c == ')' && depth > 0 ? 1 : 0;
    at = c == '[' ? class_end(pattern, at) : at + (c == '\\' ? 2 : 1);
  }
  alternatives.push_back(pattern.substr(begin));
  return alternatives;
}

bool is_literal(std::string_view alternative) {
  return !alternative.empty() &&
         alternative.find_first_of("\\[]().*+?{}^$|") == std::string_view::npos;
}

std::string tree_of(const std::vector<std::string_view>& literals, int levels) {
  if (levels == 0) return fmt::format("{}", fmt::join(literals, "|"));
  std::vector<std::string_view> firsts;  // characters, in the order of the literals
  std::map<std::string_view, std::vector<std::string_view>> rests;
  for (const std::string_view literal : literals) {
    const std::string_view first =
        literal.substr(0, literal.empty() ? 0 : text::decode_first(literal).size);
    auto& after = rests[first];
    if (after.empty()) firsts.push_back(first);
    after.push_back(literal.substr(first.size()));
    if (literal.empty()) break;  // it matches: what is after it is never tried
  }
  std::vector<std::string> branches;
  for (const std::string_view first : firsts) {
    const auto& after = rests[first];
    branches.push_back(std::string(first) +
                       (after.size() == 1 ? std::string(after[0])
                                          : fmt::format("(?:{})", tree_of(after, levels - 1))));
  }
  return fmt::format("{}", fmt::join(branches, "|"));
}

}  // namespace

std::string with_literals_as_tree(std::string_view pattern) {
  const std::vector<std::string_view> all = alternatives_of(pattern);
  std::vector<std::string> written;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    while (end < all.size() && is_literal(all[end])) ++end;
    if (end - begin >= kWorthATree) {
      const std::span run = std::span(all).subspan(begin, end - begin);
      written.push_back(tree_of({run.begin(), run.end()}, kMostLevels));
      begin = end;
    } else {
      written.emplace_back(all[begin++]);
    }
  }
  return all.empty() ? std::string(pattern) : fmt::format("{}", fmt::join(written, "|"));
}

}  // namespace ingot
