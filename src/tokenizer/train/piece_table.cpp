#include "tokenizer/train/piece_table.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace ingot {
namespace {

static_assert(std::endian::native == std::endian::little, "a key's bytes are the piece's bytes");

constexpr size_t kLongestShort = 15;
constexpr size_t kFirstSize = size_t{1} << 12;

// As many pieces are looked up together, so that their cache lines arrive together.
constexpr size_t kBatch = 16;

__extension__ using uint128 = unsigned __int128;  // the only way to name it under -Wpedantic

uint64_t fold(uint64_t a, uint64_t b) {
  const uint128 product = static_cast<uint128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// The first `size` bytes of eight.
constexpr uint64_t mask_of(size_t size) {
  return size >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
}

// Parts are cut by the hash's low bits, places in the table by its high ones: a table that holds
// one part is as evenly filled as one that holds all.
bool belongs(uint64_t hash, int part, int num_parts) {
  return (hash & 0xFFFF) % static_cast<uint64_t>(num_parts) == static_cast<uint64_t>(part);
}

size_t place_of(uint64_t hash, size_t table_size) {
  return static_cast<size_t>(hash >> (64 - std::countr_zero(table_size)));
}

template <class Slot, class Hash>
void double_size(std::vector<Slot>& table, const Hash& hash_of) {
  std::vector<Slot> old(table.size() * 2);
  old.swap(table);
  for (const Slot& slot : old) {
    if (slot.count == 0) continue;
    size_t at = place_of(hash_of(slot), table.size());
    while (table[at].count > 0) at = (at + 1) & (table.size() - 1);
    table[at] = slot;
  }
}

}  // namespace

PieceTable::PieceTable() : short_(kFirstSize), long_(kFirstSize) {}

PieceTable::Key PieceTable::key_of(std::string_view text, size_t begin, size_t size) {
  Key key;
  if (begin + 16 <= text.size()) {
    std::memcpy(&key, text.data() + begin, 16);
    key.low &= mask_of(size);
    key.high &= size > 8 ? mask_of(size - 8) : 0;
  } else {
    std::memcpy(&key, text.data() + begin, size);
  }
  key.high |= static_cast<uint64_t>(size) << 56;
  return key;
}

uint64_t PieceTable::hash_of(const Key& key) {
  return fold(key.low ^ 0x9E3779B97F4A7C15u, key.high ^ 0xD1B54A32D192ED03u) * 0x9FB21C651E98DF25u;
}

uint64_t PieceTable::hash_of(std::string_view piece) {
  return XXH3_64bits(piece.data(), piece.size());
}

void PieceTable::count(std::string_view text, const std::vector<uint32_t>& ends) {
  std::array<Key, kBatch> keys;
  std::array<uint64_t, kBatch> hashes;
  size_t begin = 0;
  for (size_t first = 0; first < ends.size(); first += kBatch) {
    const size_t last = std::min(first + kBatch, ends.size());
    size_t num_keys = 0;
    for (size_t i = first; i < last; ++i) {
      const size_t size = ends[i] - begin;
      if (size > kLongestShort) {
        const std::string_view piece = text.substr(begin, size);
        add_long(piece, hash_of(piece), 1);
      } else if (size > 0) {
        keys[num_keys] = key_of(text, begin, size);
        hashes[num_keys] = hash_of(keys[num_keys]);
        __builtin_prefetch(&short_[place_of(hashes[num_keys], short_.size())], 1);
        ++num_keys;
      }
      begin = ends[i];
    }
    for (size_t i = 0; i < num_keys; ++i) add_short(keys[i], hashes[i], 1);
  }
}

void PieceTable::add(const PieceTable& other, int part, int num_parts) {
  for (const Short& slot : other.short_) {
    if (slot.count == 0) continue;
    const uint64_t hash = hash_of(slot.key);
    if (belongs(hash, part, num_parts)) add_short(slot.key, hash, slot.count);
  }
  for (const Long& slot : other.long_) {
    if (slot.count == 0 || !belongs(slot.hash, part, num_parts)) continue;
    add_long(other.view_of(slot), slot.hash, slot.count);
  }
}

void PieceTable::add_short(const Key& key, uint64_t hash, int64_t count) {
  const size_t mask = short_.size() - 1;
  size_t at = place_of(hash, short_.size());
  while (short_[at].count > 0 && !(short_[at].key == key)) at = (at + 1) & mask;
  if (short_[at].count == 0) {
    short_[at].key = key;
    ++num_short_;
  }
  short_[at].count += count;
  if (num_short_ * 2 > short_.size()) {
    double_size(short_, [](const Short& slot) { return hash_of(slot.key); });
  }
}

void PieceTable::add_long(std::string_view piece, uint64_t hash, int64_t count) {
  const size_t mask = long_.size() - 1;
  size_t at = place_of(hash, long_.size());
  while (long_[at].count > 0 && !(long_[at].hash == hash && view_of(long_[at]) == piece)) {
    at = (at + 1) & mask;
  }
  if (long_[at].count == 0) {
    long_[at] = {hash, long_bytes_.size(), 0, static_cast<uint32_t>(piece.size())};
    long_bytes_ += piece;
    ++num_long_;
  }
  long_[at].count += count;
  if (num_long_ * 2 > long_.size()) {
    double_size(long_, [](const Long& slot) { return slot.hash; });
  }
}

}  // namespace ingot
