#include "ingest/dedup/clusters.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/error/error.h"

namespace ingot {
namespace {

uint64_t scrambled(uint64_t value) {  // murmur3's finalizer: a bijection
  value = (value ^ value >> 33) * 0xFF51AFD7ED558CCDu;
  value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53u;
  return value ^ value >> 33;
}

// The `count` items that come first, in order, by an order that leaves no ties.
template <class Before>
std::vector<uint32_t> first_of(const std::vector<uint32_t>& items, size_t count, Before before) {
  std::vector<uint32_t> first(std::min(count, items.size()));
  std::partial_sort_copy(items.begin(), items.end(), first.begin(), first.end(), before);
  return first;
}

}  // namespace

Clusters::Clusters(int64_t num_documents) {
  check(num_documents < int64_t{0xFFFFFFFF}, ErrorCode::Config,
        "expected fewer than 2^32 - 1 documents, got {}: deduplicate parts first", num_documents);
  parents_.resize(static_cast<size_t>(num_documents));
  std::iota(parents_.begin(), parents_.end(), uint32_t{0});
}

uint32_t Clusters::root(uint32_t document) {
  while (parents_[document] != document) {
    parents_[document] = parents_[parents_[document]];  // halves the way for those who come after
    document = parents_[document];
  }
  return document;
}

void Clusters::join(uint32_t a, uint32_t b) {
  a = root(a);
  b = root(b);
  if (a != b) parents_[std::max(a, b)] = std::min(a, b);
}

Clusters::Summary Clusters::summarize(size_t num_largest, size_t num_random) {
  std::vector<uint32_t> sizes(parents_.size(), 0);
  for (uint32_t i = 0; i < parents_.size(); ++i) {
    parents_[i] = parents_[parents_[i]];  // parents are lower, so theirs are roots already
    ++sizes[parents_[i]];
  }
  Summary summary;
  std::vector<uint32_t> roots;
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 2) continue;
    roots.push_back(i);
    const auto size_class = static_cast<size_t>(std::bit_width(sizes[i]) - 1);
    summary.by_size.resize(std::max(summary.by_size.size(), size_class + 1));
    ++summary.by_size[size_class];
    summary.removed += sizes[i] - 1;
  }
  summary.clusters = static_cast<int64_t>(roots.size());
  summary.largest = first_of(roots, num_largest, [&](uint32_t a, uint32_t b) {
    return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b;
  });
  summary.random = first_of(roots, num_random,
                            [](uint32_t a, uint32_t b) { return scrambled(a) < scrambled(b); });
  for (const uint32_t root : summary.largest) summary.size_of_largest.push_back(sizes[root]);
  for (const uint32_t root : summary.random) summary.size_of_random.push_back(sizes[root]);
  return summary;
}

}  // namespace ingot
