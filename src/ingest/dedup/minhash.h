// MinHash signatures, bit for bit datatrove's: documents that share most of their word n-grams
// share most of their signature.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/clean/splitters/splitter.h"
#include "ingest/dedup/joined_words.h"
#include "ingest/dedup/minhash_kernel.h"
#include "ingest/text/normalize.h"
#include "spec/settings/settings.h"

namespace ingot {

enum class ShingleHash { Xxh64, Sha1 };  // SHA-1: its first eight bytes, little-endian

#include "spec/settings/fields.h"

struct MinHashSettings {
#include "ingest/dedup/minhash.def"

  int64_t num_hashes() const {
    return buckets * hashes;
  }
};

#include "spec/settings/end.h"

void append_settings(MinHashSettings& settings, std::vector<Setting>& rows);  // "dedup.n_gram", …

// Throws ErrorCode::Config for meaningless numbers.
void validate(const MinHashSettings& settings);

// h -> (h * a + b) mod 2^64 mod (2^61 - 1), one pair per hash of a signature.
struct MinHashParameters {
  std::vector<uint64_t> a, b;
};
// As drawn by numpy's RandomState(seed): all a from [1, 2^61 - 2], then all b from [0, 2^61 - 2].
MinHashParameters minhash_parameters(uint32_t seed, int64_t count);

// One per thread. Splitter and settings decide which documents are duplicates, so both are part of
// a job's description.
class MinHasher {
 public:
  MinHasher(const MinHashSettings& settings, const Splitter& splitter);  // splitter must outlive it

  // num_hashes() values, bucket after bucket; empty if the text (valid UTF-8) has fewer than n_gram
  // words: such a document is never a duplicate. Valid until the next call.
  std::span<const uint64_t> signature(std::string_view text);

 private:
  MinHashSettings settings_;
  const Splitter& splitter_;
  MinHashParameters parameters_;  // padded to whole blocks
  std::string normal_;
  WordList words_;
  JoinedWords joined_;
  std::vector<uint64_t> hashes_, minima_;
};

}  // namespace ingot
