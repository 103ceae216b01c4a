#include "feed/same_passages.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace ingot {
namespace {

constexpr auto kLength = static_cast<size_t>(kPassageTokens);
// Runs of spaces, rulers and the like are in any two texts.
constexpr size_t kFewestKinds = 12;
constexpr int64_t kReadAtOnce = int64_t{1} << 16;        // tokens
constexpr int64_t kReadForPassage = 2 * kPassageTokens;  // some of them are line ends

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

bool is_line_end(char byte) {
  return byte == '\n' || byte == '\r';
}

// What ids are compared as: the text of each without CR and LF, as the id that stands for it.
class ComparedIds {
 public:
  explicit ComparedIds(const Tokenizer& tokenizer) {
    std::vector<std::string> texts;
    std::unordered_map<std::string, int32_t> id_of;
    for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
      compared_as_.push_back(id);
      texts.push_back(tokenizer.decode(id));
      if (std::none_of(texts.back().begin(), texts.back().end(), is_line_end))
        id_of.emplace(texts.back(), id);
    }
    for (size_t id = 0; id < texts.size(); ++id) {
      if (std::erase_if(texts[id], is_line_end) == 0) continue;
      const auto same = id_of.find(texts[id]);
      if (texts[id].empty())
        compared_as_[id] = kLeftOut;
      else if (same != id_of.end())
        compared_as_[id] = same->second;
    }
  }

  void append(std::span<const int32_t> ids, std::vector<int32_t>& compared) const {
    for (const int32_t id : ids) {
      const bool is_known = static_cast<size_t>(id) < compared_as_.size();
      const int32_t as = is_known ? compared_as_[static_cast<size_t>(id)] : id;
      if (as != kLeftOut) compared.push_back(as);
    }
  }

 private:
  static constexpr int32_t kLeftOut = -1;
  std::vector<int32_t> compared_as_;  // by id
};

class Passages {
 public:
  Passages(std::span<const NamedSource> sources, const ComparedIds& ids, PassageCounts& counts) {
    std::vector<int32_t> read, tokens;
    for (size_t i = 0; i < sources.size(); ++i) {
      const TokenSource& source = *sources[i].source;
      const int64_t room = source.num_tokens() - kPassageTokens;
      const int64_t most = std::min(kPassagesLookedFor, source.num_tokens() / kPassageTokens);
      for (int64_t p = 0; room >= 0 && p < most; ++p) {
        const int64_t begin = most == 1 ? 0 : room * p / (most - 1);
        read.resize(static_cast<size_t>(std::min(kReadForPassage, source.num_tokens() - begin)));
        source.read(begin, read);
        tokens.clear();
        ids.append(read, tokens);
        if (tokens.size() < kLength) continue;
        Passage passage;
        std::copy_n(tokens.begin(), kLength, passage.begin());
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
void for_each_passage(const TokenSource& source, const ComparedIds& ids, const F& f) {
  std::vector<int32_t> read, tokens;
  for (int64_t begin = 0; begin < source.num_tokens(); begin += kReadAtOnce) {
    read.resize(static_cast<size_t>(std::min(kReadAtOnce, source.num_tokens() - begin)));
    source.read(begin, read);
    const size_t kept = std::min(tokens.size(), kLength - 1);  // of the block before
    tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(kept));
    ids.append(read, tokens);
    if (tokens.size() < kLength) continue;
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
                            std::span<const NamedSource> where, const Tokenizer& tokenizer) {
  PassageCounts counts;
  counts.looked_for.assign(sources.size(), 0);
  counts.found.assign(sources.size(), std::vector<int64_t>(where.size(), 0));
  const ComparedIds ids(tokenizer);
  Passages passages(sources, ids, counts);
  int64_t left = kMostTokensRead;
  for (size_t i = 0; i < where.size(); ++i) {
    const TokenSource& source = *where[i].source;
    if (source.num_tokens() > left) {
      counts.not_read.push_back(where[i].name);
      continue;
    }
    left -= source.num_tokens();
    for_each_passage(source, ids, [&](uint64_t hash, std::span<const int32_t> tokens) {
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
