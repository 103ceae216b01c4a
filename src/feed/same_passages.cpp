#include "feed/same_passages.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace ingot {
namespace {

constexpr auto kLength = static_cast<size_t>(kPassageTokens);
// Runs of spaces, rulers and the like are in any two texts.
constexpr size_t kFewestKinds = 12;
constexpr int64_t kReadAtOnce = int64_t{1} << 16;  // tokens

using Passage = std::array<int32_t, kLength>;

// A hash of the last kLength tokens: a polynomial modulo 2^64, whose high bits are used.
class RollingHash {
 public:
  RollingHash() {
    for (size_t i = 0; i < kLength; ++i) leaving_ *= kBase;
  }
  void push(int32_t in) { value_ = value_ * kBase + mixed(in); }
  void roll(int32_t in, int32_t out) {
    value_ = value_ * kBase + mixed(in) - leaving_ * mixed(out);
  }
  uint64_t value() const { return value_; }

 private:
  static constexpr uint64_t kBase = 0x9E3779B97F4A7C15;
  static uint64_t mixed(int32_t token) {
    return (static_cast<uint64_t>(token) + 1) * 0xD1B54A32D192ED03;
  }
  uint64_t value_ = 0, leaving_ = 1;
};

uint64_t hash_of(const Passage& passage) {
  RollingHash hash;
  for (const int32_t token : passage) hash.push(token);
  return hash.value();
}

class Passages {
 public:
  Passages(std::span<const NamedSource> sources, PassageCounts& counts) {
    for (size_t i = 0; i < sources.size(); ++i) {
      const TokenSource& source = *sources[i].source;
      const int64_t room = source.num_tokens() - kPassageTokens;
      const int64_t most = std::min(kPassagesLookedFor, source.num_tokens() / kPassageTokens);
      for (int64_t p = 0; room >= 0 && p < most; ++p) {
        Passage passage;
        source.read(most == 1 ? 0 : room * p / (most - 1), passage);
        counts.looked_for[i] += add(passage, i);
      }
    }
    found_in_.assign(entries_.size(), -1);
  }

  bool may_hold(uint64_t hash) const { return filter_[hash >> kFilterShift]; }
  // Counts those of other sources than `not_of`, once for each number `where`.
  void look_for(uint64_t hash, std::span<const int32_t> tokens, int where, const void* not_of,
                std::span<const NamedSource> sources, PassageCounts& counts) {
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto at = begin; at != end; ++at) {
      const auto& [passage, source] = entries_[at->second];
      int& found_in = found_in_[at->second];
      if (found_in == where || sources[source].source == not_of) continue;
      if (!std::equal(passage.begin(), passage.end(), tokens.begin())) continue;
      found_in = where;
      ++counts.found[source][static_cast<size_t>(where)];
    }
  }

 private:
  static constexpr int kFilterShift = 64 - 18;

  int64_t add(const Passage& passage, size_t source) {
    Passage kinds = passage;
    std::sort(kinds.begin(), kinds.end());
    const auto different = std::unique(kinds.begin(), kinds.end()) - kinds.begin();
    if (static_cast<size_t>(different) < kFewestKinds) return 0;
    const uint64_t hash = hash_of(passage);
    filter_[hash >> kFilterShift] = true;
    by_hash_.emplace(hash, entries_.size());
    entries_.emplace_back(passage, source);
    return 1;
  }

  std::vector<std::pair<Passage, size_t>> entries_;  // and the numbers of their sources
  std::unordered_multimap<uint64_t, size_t> by_hash_;
  std::vector<bool> filter_ = std::vector<bool>(size_t{1} << (64 - kFilterShift));
  std::vector<int> found_in_;
};

// Calls f(hash, tokens) for every passage of a source.
template <class F>
void for_each_passage(const TokenSource& source, const F& f) {
  std::vector<int32_t> tokens;
  for (int64_t begin = 0; begin + kPassageTokens <= source.num_tokens(); begin += kReadAtOnce) {
    const int64_t end = std::min(source.num_tokens(), begin + kReadAtOnce + kPassageTokens - 1);
    tokens.resize(static_cast<size_t>(end - begin));
    source.read(begin, tokens);
    RollingHash hash;
    for (size_t i = 0; i < kLength; ++i) hash.push(tokens[i]);
    f(hash.value(), std::span<const int32_t>(tokens).first(kLength));
    for (size_t i = kLength; i < tokens.size(); ++i) {
      hash.roll(tokens[i], tokens[i - kLength]);
      f(hash.value(), std::span<const int32_t>(tokens).subspan(i - kLength + 1, kLength));
    }
  }
}

}  // namespace

PassageCounts same_passages(std::span<const NamedSource> sources,
                            std::span<const NamedSource> where) {
  PassageCounts counts;
  counts.looked_for.assign(sources.size(), 0);
  counts.found.assign(sources.size(), std::vector<int64_t>(where.size(), 0));
  Passages passages(sources, counts);
  int64_t left = kMostTokensRead;
  for (size_t i = 0; i < where.size(); ++i) {
    const TokenSource& source = *where[i].source;
    if (source.num_tokens() > left) {
      counts.not_read.push_back(where[i].name);
      continue;
    }
    left -= source.num_tokens();
    for_each_passage(source, [&](uint64_t hash, std::span<const int32_t> tokens) {
      if (passages.may_hold(hash))
        passages.look_for(hash, tokens, static_cast<int>(i), &source, sources, counts);
    });
  }
  return counts;
}

bool records_documents(const TokenSource& source) {
  return source.content_cost() == 0 &&
         (source.num_documents() > 1 || source.content(0).has_value());
}

}  // namespace ingot
