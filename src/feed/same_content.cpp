#include "feed/same_content.h"

#include <algorithm>
#include <map>
#include <set>

namespace ingot {
namespace {

struct Entry {
  ContentId content;
  size_t source = 0;
  int64_t document = 0;
};

bool by_content(const Entry& a, const Entry& b) {
  return a.content < b.content;
}

// Documents of all sources, or those whose hash ends in so many zero bits that they are few enough.
class Sample {
 public:
  void add(const Entry& entry) {
    if ((entry.content.low & mask_) != 0) return;
    entries_.push_back(entry);
    if (entries_.size() <= kMostHashesKept) return;
    mask_ = mask_ << 1 | 1;
    std::erase_if(entries_, [&](const Entry& e) { return (e.content.low & mask_) != 0; });
  }
  std::vector<Entry> sorted() {
    std::sort(entries_.begin(), entries_.end(), by_content);
    return std::move(entries_);
  }
  int64_t each_stands_for() const { return static_cast<int64_t>(mask_) + 1; }

 private:
  std::vector<Entry> entries_;
  uint64_t mask_ = 0;
};

// Calls f(documents by source) for each content that several sources have.
template <class F>
void for_each_group(const std::vector<Entry>& entries, const F& f) {
  for (size_t begin = 0; begin < entries.size();) {
    std::map<size_t, int64_t> counts;
    size_t end = begin;
    for (; end < entries.size() && entries[end].content == entries[begin].content; ++end)
      ++counts[entries[end].source];
    if (counts.size() > 1) f(counts);
    begin = end;
  }
}

// Lengths of documents, BOS and EOS among them.
class Lengths {
 public:
  void add(int64_t tokens) { lengths_.insert(tokens); }
  // Whether one is as long, not counting BOS and EOS, which one of the two may lack.
  bool fits(int64_t tokens) const {
    const auto at = lengths_.lower_bound(tokens - 2);
    return at != lengths_.end() && *at <= tokens + 2;
  }

 private:
  std::set<int64_t> lengths_;
};

int64_t length_of(const TokenSource& source, int64_t document) {
  return source.document_begin(document + 1) - source.document_begin(document);
}

// Calls f(document, content) for the documents of a source, of one that records no hashes only for
// those whose length `fits`. False where that would read too many tokens, after some.
template <class Fits, class F>
bool for_each_content(const TokenSource& source, const Fits& fits, const F& f) {
  const bool is_read = source.content_cost() > 0;
  int64_t left = kMostTokensRead;
  for (int64_t d = 0; d < source.num_documents(); ++d) {
    if (is_read) {
      const int64_t length = length_of(source, d);
      if (!fits(length)) continue;
      left -= length;
      if (left < 0) return false;
    }
    if (const auto content = source.content(d)) f(d, *content);
  }
  return true;
}

// The documents that are held out, by content.
class HeldOut {
 public:
  HeldOut(std::span<const NamedSource> sources, SharedDocuments& result) {
    for (size_t i = 0; i < sources.size(); ++i) {
      const TokenSource& source = *sources[i].source;
      const bool all = for_each_content(
          source, [](int64_t) { return true; },
          [&](int64_t document, const ContentId& content) {
            if (entries_.size() < kMostHashesKept) entries_.push_back({content, i, document});
          });
      if (!all || entries_.size() == kMostHashesKept)
        result.not_compared.push_back(sources[i].name);
    }
    result.of = static_cast<int64_t>(entries_.size());
    std::sort(entries_.begin(), entries_.end(), by_content);
    found_.resize(entries_.size());
    filter_.resize(kFilterBits * (entries_.size() + 1));
    for (const Entry& entry : entries_) {
      filter_[entry.content.low % filter_.size()] = true;
      lengths_.add(length_of(*sources[entry.source].source, entry.document));
    }
  }

  bool fits(int64_t length) const { return lengths_.fits(length); }
  // Counts those that say the same; calls first(entry) when they are the first of all.
  template <class F>
  void look_for(const ContentId& content, SharedDocuments& result, const F& first) {
    if (!filter_[content.low % filter_.size()]) return;
    const auto [begin, end] =
        std::equal_range(entries_.begin(), entries_.end(), Entry{content}, by_content);
    for (auto entry = begin; entry != end; ++entry) {
      const auto number = static_cast<size_t>(entry - entries_.begin());
      if (found_[number]) continue;
      found_[number] = true;
      if (result.documents++ == 0) first(*entry);
    }
  }

 private:
  // For each document: of sixteen others fifteen are told from all by one bit, without a search.
  static constexpr size_t kFilterBits = 16;

  std::vector<Entry> entries_;
  std::vector<bool> found_, filter_;
  Lengths lengths_;
};

}  // namespace

std::vector<Overlap> overlaps_among(std::span<const NamedSource> sources) {
  std::map<std::pair<size_t, size_t>, int64_t> shared;  // {of, in}: documents
  std::vector<int64_t> sampled(sources.size(), 0);
  Sample sample;
  for (size_t i = 0; i < sources.size(); ++i) {
    const TokenSource& source = *sources[i].source;
    if (source.content_cost() > kMostTokensRead) continue;
    for (int64_t d = 0; d < source.num_documents(); ++d)
      if (const auto content = source.content(d)) sample.add({*content, i, d});
  }
  const std::vector<Entry> entries = sample.sorted();
  for (const Entry& entry : entries) ++sampled[entry.source];
  for_each_group(entries, [&](const std::map<size_t, int64_t>& counts) {
    for (const auto& [of, documents] : counts)
      for (const auto& [in, ignored] : counts)
        if (of != in) shared[{of, in}] += documents;
  });
  std::vector<uint64_t> hashes;
  for (const NamedSource& named : sources) hashes.push_back(named.source->content_hash());
  for (size_t of = 0; of < sources.size(); ++of)
    for (size_t in = 0; in < sources.size(); ++in)
      if (of != in && hashes[of] == hashes[in]) shared.try_emplace({of, in}, sampled[of]);

  std::vector<Overlap> overlaps;
  for (const auto& [pair, documents] : shared) {
    const auto [of, in] = pair;
    const int64_t total = sources[of].source->num_documents();
    const bool all = hashes[of] == hashes[in] || documents == sampled[of];
    overlaps.push_back(
        {of, in, all ? total : std::min(total, documents * sample.each_stands_for()), all});
  }
  return overlaps;
}

SharedDocuments documents_in_both(std::span<const NamedSource> held_out,
                                  std::span<const NamedSource> trained) {
  SharedDocuments result;
  HeldOut looked_for(held_out, result);
  for (const NamedSource& named : trained) {
    const TokenSource& source = *named.source;
    const bool all = for_each_content(
        source, [&](int64_t length) { return looked_for.fits(length); },
        [&](int64_t document, const ContentId& content) {
          looked_for.look_for(content, result, [&](const Entry& entry) {
            const NamedSource& other = held_out[entry.source];
            result.held_out = {other.name, other.source->document_name(entry.document)};
            result.trained = {named.name, source.document_name(document)};
          });
        });
    if (!all) result.not_compared.push_back(named.name);
  }
  return result;
}

}  // namespace ingot
