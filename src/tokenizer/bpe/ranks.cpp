#include <algorithm>

#include "core/error/error.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/bpe/token_index.h"

namespace ingot {
namespace {

// A token is merged up from its bytes here, which is quadratic; published ones have at most 128.
constexpr size_t kLongestToken = 1024;
constexpr uint32_t kNoToken = static_cast<uint32_t>(TokenIndex::kNone);  // the largest: merges last

// Where the token falls in two just before it is whole, when its bytes merge by rank and nothing
// stands beside them; 0 when they do not merge to it.
size_t last_boundary(std::string_view token, const TokenIndex& index) {
  // Where the symbols begin, the end last; and the rank of each symbol with the next.
  std::vector<size_t> begins;
  for (size_t i = 0; i <= token.size(); ++i) begins.push_back(i);
  const auto rank_at = [&](size_t i) {
    return static_cast<uint32_t>(index.find(token.substr(begins[i], begins[i + 2] - begins[i])));
  };
  std::vector<uint32_t> ranks;
  for (size_t i = 0; i + 2 < begins.size(); ++i) ranks.push_back(rank_at(i));
  while (begins.size() > 3) {
    const auto best = std::min_element(ranks.begin(), ranks.end());
    if (*best == kNoToken) return 0;
    const auto at = static_cast<size_t>(best - ranks.begin());
    begins.erase(begins.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    ranks.erase(best);
    if (at > 0) ranks[at - 1] = rank_at(at - 1);
    if (at < ranks.size()) ranks[at] = rank_at(at);
  }
  return begins[1];
}

}  // namespace

std::vector<TokenMerge> merges_of_ranks(const std::vector<std::string>& tokens,
                                        std::string_view origin) {
  const TokenIndex index(tokens);
  std::vector<TokenMerge> merges;
  for (size_t id = 0; id < tokens.size(); ++id) {
    const std::string_view token = tokens[id];
    check(token.size() <= kLongestToken, ErrorCode::Data,
          "{}: token {} has {} bytes, expected at most {}", origin, id, token.size(),
          kLongestToken);
    const size_t boundary = token.size() < 2 ? 0 : last_boundary(token, index);
    if (boundary == 0) continue;
    const int32_t left = index.find(token.substr(0, boundary));
    const int32_t right = index.find(token.substr(boundary));
    if (left == TokenIndex::kNone || right == TokenIndex::kNone) continue;  // a byte has no token
    merges.push_back({left, right, static_cast<int32_t>(id)});
  }
  return merges;
}

}  // namespace ingot
