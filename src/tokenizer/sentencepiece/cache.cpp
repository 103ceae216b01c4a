#include "tokenizer/sentencepiece/cache.h"

#include <sys/mman.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace ingot {

// Large pages, asked for before the first touch: with small ones most lookups also miss the TLB.
PartCache::PartCache() {
  constexpr size_t kHugePage = size_t{1} << 21;
  constexpr size_t kBytes = sizeof(Line) << kBits;
  static_assert(kBytes % kHugePage == 0);
  void* memory = std::aligned_alloc(kHugePage, kBytes);
  if (memory == nullptr) throw std::bad_alloc();
  madvise(memory, kBytes, MADV_HUGEPAGE);  // only a wish
  std::memset(memory, 0, kBytes);
  lines_.reset(static_cast<Line*>(memory));
}

void PartCache::Free::operator()(Line* lines) const {
  std::free(lines);
}

void PartCache::put(const Key& key, float bound, std::span<const PieceToken> tokens) {
  auto& entries = lines_[line_of(key)].entries;
  entries[1] = entries[0];
  entries[0] = {key, {-1, -1, -1}, bound};
  for (size_t i = 0; i < tokens.size(); ++i) entries[0].ids[i] = tokens[i].id;
}

// Zeros that are not touched: most models need little of it.
LongPartCache::LongPartCache()
    : entries_(static_cast<Entry*>(std::calloc(size_t{1} << kBits, sizeof(Entry)))) {
  if (!entries_) throw std::bad_alloc();
}

void LongPartCache::Free::operator()(Entry* entries) const {
  std::free(entries);
}

size_t LongPartCache::place_of(std::string_view part) {
  return static_cast<size_t>(XXH3_64bits(part.data(), part.size()) >> (64 - kBits));
}

const LongPartCache::Entry* LongPartCache::find(std::string_view part) const {
  if (part.size() > kLongestPart) return nullptr;
  const Entry& entry = entries_[place_of(part)];
  return std::string_view(entry.part.data(), entry.size) == part ? &entry : nullptr;
}

void LongPartCache::put(std::string_view part, float bound, std::span<const PieceToken> tokens) {
  if (part.size() > kLongestPart || tokens.size() > kMaxTokens) return;
  Entry& entry = entries_[place_of(part)];
  entry.bound = bound;
  entry.size = static_cast<uint8_t>(part.size());
  entry.count = static_cast<uint8_t>(tokens.size());
  std::copy(part.begin(), part.end(), entry.part.begin());
  for (size_t i = 0; i < tokens.size(); ++i) entry.ids[i] = tokens[i].id;
}

}  // namespace ingot
