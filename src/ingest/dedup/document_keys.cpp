#include "ingest/dedup/document_keys.h"

#include <xxhash.h>

namespace ingot {
namespace {

// A power of two. Enough partitions to keep some processes busy; more would mean shorter reads.
int64_t num_ranges(const DedupSettings& settings) {
  return settings.method == DedupMethod::Exact ? 16 : 2;
}

int64_t num_buckets(const DedupSettings& settings) {
  return settings.method == DedupMethod::Exact ? 1 : settings.minhash.buckets;
}

}  // namespace

int64_t num_partitions(const DedupSettings& settings) {
  return num_buckets(settings) * num_ranges(settings);
}

DocumentKeys::DocumentKeys(const DedupSettings& settings, const Splitter* splitter)
    : settings_(settings) {
  if (splitter != nullptr) hasher_ = std::make_unique<MinHasher>(settings_.minhash, *splitter);
}

const std::vector<DocumentKeys::Key>& DocumentKeys::keys_of(std::string_view text) {
  keys_.clear();
  if (hasher_ != nullptr) {
    const auto signature = hasher_->signature(text);
    if (signature.empty()) return keys_;
    const auto size = static_cast<size_t>(settings_.minhash.hashes);
    for (int64_t bucket = 0; bucket < settings_.minhash.buckets; ++bucket) {
      const uint64_t* hashes = signature.data() + static_cast<size_t>(bucket) * size;
      add(bucket, hashes, size * sizeof(uint64_t));
    }
    return keys_;
  }
  if (settings_.normalize) {
    text::normalize(settings_.minhash.normal_form, text, normal_);
    text = normal_;
  }
  if (!text.empty()) add(0, text.data(), text.size());
  return keys_;
}

void DocumentKeys::add(int64_t bucket, const void* data, size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  const auto ranges = static_cast<uint64_t>(num_ranges(settings_));
  const auto range = static_cast<int64_t>((hash.high64 >> 32) * ranges >> 32);
  keys_.push_back({bucket * static_cast<int64_t>(ranges) + range, hash.high64, hash.low64});
}

}  // namespace ingot
