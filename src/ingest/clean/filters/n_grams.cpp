#include "ingest/clean/filters/n_grams.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace ingot {
namespace {

constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;

uint64_t load8(const char* p) {
  uint64_t value;
  std::memcpy(&value, p, 8);
  return value;
}

// At most so many bytes are copied and hashed by fixed loads; few words are longer.
constexpr size_t kShort = 16;
static_assert(kShort <= NGrams::kMaxHeadBytes);

// Of a word with at least eight readable bytes from p on.
uint64_t hash_word(const char* p, size_t bytes) {
  if (bytes > kShort) return XXH3_64bits(p, bytes);
  const uint64_t head = bytes >= 8 ? load8(p) : load8(p) << (64 - 8 * bytes);
  const uint64_t tail = bytes > 8 ? load8(p + bytes - 8) : 0;
  const uint64_t hash = (head ^ bytes) * kMultiplier ^ tail * 0xC2B2AE3D27D4EB4Fu;
  return hash ^ hash >> 32;
}

}  // namespace

void NGrams::assign(std::span<const Word> words, std::string_view text) {
  hashes_.resize(words.size());
  byte_ends_.resize(words.size() + 1);
  char_ends_.resize(words.size() + 1);
  uint32_t bytes = 0, chars = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    byte_ends_[i] = bytes;
    char_ends_[i] = chars;
    bytes += words[i].bytes;
    chars += words[i].chars;
  }
  byte_ends_[words.size()] = bytes;
  char_ends_[words.size()] = chars;

  joined_.resize(bytes + kMaxHeadBytes);
  char* out = joined_.data();
  const char* end = text.data() + text.size();
  for (const Word& word : words) {
    if (word.bytes <= kShort && static_cast<size_t>(end - word.data) >= kShort) {
      std::memcpy(out, word.data, kShort);
    } else {
      std::memcpy(out, word.data, word.bytes);
    }
    out += word.bytes;
  }
  std::memset(out, 0, kMaxHeadBytes);
  for (size_t i = 0; i < words.size(); ++i) {
    hashes_[i] = hash_word(joined_.data() + byte_ends_[i], words[i].bytes);
  }
}

uint64_t NGrams::head_hash(size_t i, size_t num_bytes) const {
  const char* p = joined_.data() + byte_ends_[i];
  uint64_t hash = load8(p) * kMultiplier;
  for (size_t k = 8; k < num_bytes; k += 8) {
    hash = (hash ^ hash >> 32 ^ load8(p + std::min(k, num_bytes - 8))) * kMultiplier;
  }
  return hash;
}

}  // namespace ingot
