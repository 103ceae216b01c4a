#include "tokenizer/bpe/piece_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <new>

#include "tokenizer/bpe/token_index.h"

namespace ingot {

void PieceCache::Free::operator()(Set* sets) const {
  std::free(sets);
}

PieceCache::Sets PieceCache::allocate(size_t num_sets) {
  constexpr size_t kLargePage = size_t{2} << 20;
  const size_t bytes = num_sets * sizeof(Set);
  const bool is_large = bytes % kLargePage == 0;
  auto* sets = static_cast<Set*>(std::aligned_alloc(is_large ? kLargePage : alignof(Set), bytes));
  if (sets == nullptr) throw std::bad_alloc();
  // Only advice, and of use only before the first touch: lookups go everywhere, and small pages
  // would miss the TLB.
  if (is_large) madvise(sets, bytes, MADV_HUGEPAGE);
  std::uninitialized_value_construct_n(sets, num_sets);
  return Sets(sets);
}

PieceCache::PieceCache(size_t num_pieces)
    : shift_(64 - std::clamp(static_cast<int>(std::bit_width(num_pieces)), kLeastBits, kMostBits)),
      sets_(allocate(num_sets())) {}

PieceCache::PieceCache(const PieceCache& seed)
    : shift_(seed.shift_), sets_(allocate(seed.num_sets())) {
  std::copy_n(seed.sets_.get(), num_sets(), sets_.get());
}

PieceCache::PieceCache(ArchiveReader& reader, size_t num_tokens) : shift_(reader.get<int32_t>()) {
  check_archived(64 - shift_ >= kLeastBits && 64 - shift_ <= kMostBits, "a cache of a known size");
  check_archived(reader.count<Set>() == num_sets(), "as many places as the cache has");
  sets_ = allocate(num_sets());
  reader.get_all(std::span(sets_.get(), num_sets()));
  for (size_t i = 0; i < num_sets(); ++i) {
    for (const auto& [key, value] : sets_[i].entries) {
      check_archived(value.count <= kMaxIds, "a few ids of each piece");
      for (uint32_t n = 0; n < value.count; ++n) {
        check_archived(value.ids[n] >= 0 && value.ids[n] < static_cast<int64_t>(num_tokens),
                       "pieces that are tokens");
      }
    }
  }
}

void PieceCache::save(ArchiveWriter& writer) const {
  writer.put(static_cast<int32_t>(shift_));
  writer.put_all(std::span<const Set>(sets_.get(), num_sets()));
}

void PieceCache::put(const Entry& entry) {
  Entry* place = set_of(entry.key)->entries;
  if (!(place[1].key == PieceKey())) ++pushed_out_;
  place[1] = place[0];
  place[0] = entry;
}

void PieceCache::insert(const PieceKey& key, std::span<const int32_t> ids) {
  Entry entry{key, {}};
  if (ids.size() <= kMaxIds) {
    std::copy(ids.begin(), ids.end(), entry.value.ids);
    entry.value.count = static_cast<uint32_t>(ids.size());
  }
  put(entry);
}

void PieceCache::grow_if_crowded() {
  if (pushed_out_ < num_sets() / 4 || 64 - shift_ == kMostBits) return;
  const size_t before = num_sets();
  const Sets old = std::move(sets_);
  shift_ = std::max(shift_ - 2, 64 - kMostBits);
  sets_ = allocate(num_sets());
  for (size_t i = 0; i < before; ++i) {
    for (const int way : {1, 0}) {
      if (!(old[i].entries[way].key == PieceKey())) put(old[i].entries[way]);
    }
  }
  pushed_out_ = 0;
}

size_t LongPieceCache::slot_of(std::string_view piece) {
  return hash_bytes(piece) >> (64 - kBits);
}

std::span<const int32_t> LongPieceCache::find(std::string_view piece, PieceKind kind) const {
  if (entries_.empty()) return {};
  const Entry& entry = entries_[slot_of(piece)];
  const bool here =
      entry.tag == tag_of(piece, kind) && std::memcmp(entry.piece, piece.data(), piece.size()) == 0;
  return here ? std::span(entry.ids, entry.count) : std::span<const int32_t>();
}

void LongPieceCache::insert(std::string_view piece, PieceKind kind, std::span<const int32_t> ids) {
  if (entries_.empty()) entries_.resize(size_t{1} << kBits);
  Entry& entry = entries_[slot_of(piece)];
  entry.tag = tag_of(piece, kind);
  entry.count = static_cast<uint8_t>(ids.size());
  std::memcpy(entry.piece, piece.data(), piece.size());
  std::copy(ids.begin(), ids.end(), entry.ids);
}

}  // namespace ingot
