#include "tokenizer/piece_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "tokenizer/token_index.h"

namespace ingot {

void PieceCache::Free::operator()(Set* sets) const {
  std::free(sets);
}

PieceCache::Set* PieceCache::allocate() {
  constexpr size_t kLargePage = size_t{2} << 20;
  constexpr size_t kBytes = sizeof(Set) << kSetBits;
  static_assert(sizeof(Set) == 64 && kBytes % kLargePage == 0);
  auto* sets = static_cast<Set*>(std::aligned_alloc(kLargePage, kBytes));
  if (sets == nullptr) throw std::bad_alloc();
  // Only advice, and of use only before the first touch: lookups go everywhere, and small pages
  // would miss the TLB.
  madvise(sets, kBytes, MADV_HUGEPAGE);
  return sets;
}

PieceCache::PieceCache() : sets_(allocate()) {
  std::uninitialized_value_construct_n(sets_.get(), size_t{1} << kSetBits);
}

PieceCache::PieceCache(const PieceCache& seed) : sets_(allocate()) {
  std::uninitialized_copy_n(seed.sets_.get(), size_t{1} << kSetBits, sets_.get());
}

void PieceCache::insert(const PieceKey& key, std::span<const int32_t> ids) {
  Entry* entry = set_of(key)->entries;
  entry[1] = entry[0];
  Value value{};
  value.count = ids.size() <= kMaxIds ? static_cast<uint32_t>(ids.size()) : 0;
  std::copy_n(ids.begin(), value.count, value.ids);
  entry[0] = {key, value};
}

LongPieceCache::LongPieceCache() : entries_(std::make_unique<Entry[]>(size_t{1} << kBits)) {}

size_t LongPieceCache::slot_of(std::string_view piece) {
  return hash_bytes(piece) >> (64 - kBits);
}

std::span<const int32_t> LongPieceCache::find(std::string_view piece, PieceKind kind) const {
  const Entry& entry = entries_[slot_of(piece)];
  const bool here =
      entry.tag == tag_of(piece, kind) && std::memcmp(entry.piece, piece.data(), piece.size()) == 0;
  return here ? std::span(entry.ids, entry.count) : std::span<const int32_t>();
}

void LongPieceCache::insert(std::string_view piece, PieceKind kind, std::span<const int32_t> ids) {
  Entry& entry = entries_[slot_of(piece)];
  entry.tag = tag_of(piece, kind);
  entry.count = static_cast<uint8_t>(ids.size());
  std::memcpy(entry.piece, piece.data(), piece.size());
  std::copy(ids.begin(), ids.end(), entry.ids);
}

}  // namespace ingot
