#include "shards/shard_hashes.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "core/error/error.h"

namespace ingot {
namespace {

size_t num_chunks(size_t bytes) {
  return (bytes + kHashedChunkBytes - 1) / kHashedChunkBytes;
}

}  // namespace

ChunkHasher::ChunkHasher() : state_(XXH3_createState()) {
  XXH3_64bits_reset(state_.get());
}

void ChunkHasher::Free::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

void ChunkHasher::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t count = std::min(bytes.size(), kHashedChunkBytes - in_chunk_);
    XXH3_64bits_update(state_.get(), bytes.data(), count);
    bytes.remove_prefix(count);
    in_chunk_ += count;
    if (in_chunk_ < kHashedChunkBytes) return;
    hashes_.push_back(XXH3_64bits_digest(state_.get()));
    XXH3_64bits_reset(state_.get());
    in_chunk_ = 0;
  }
}

std::vector<uint64_t> ChunkHasher::finish() {
  if (in_chunk_ > 0) hashes_.push_back(XXH3_64bits_digest(state_.get()));
  return std::move(hashes_);
}

CheckedChunks::CheckedChunks(const MappedFile& file, std::string_view bytes,
                             std::span<const uint64_t> hashes, Unit unit)
    : file_(file),
      bytes_(bytes),
      hashes_(hashes),
      unit_(unit),
      good_(std::make_unique<std::atomic<uint64_t>[]>(hashes.size() / 64 + 1)) {}

void CheckedChunks::compare(size_t chunk) const {
  const size_t begin = chunk * kHashedChunkBytes;
  const std::string_view bytes = bytes_.substr(begin, kHashedChunkBytes);
  const uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  ingot::check(hash == hashes_[chunk], ErrorCode::Data,
               "{}: {} [{}, {}) changed after they were written: expected hash {:016x}, got "
               "{:016x}; restore the file from a copy or make the shards again (ingot data verify "
               "names all that changed)",
               file_.path(), unit_.name, begin / unit_.bytes,
               (begin + bytes.size() + unit_.bytes - 1) / unit_.bytes, hashes_[chunk], hash);
  // Whoever wanted a part of it brings that back; the rest must not stay in the resident set.
  file_.release(begin, begin + bytes.size());
  good_[chunk / 64].fetch_or(uint64_t{1} << chunk % 64, std::memory_order_relaxed);
}

ShardHashes::ShardHashes(const std::string& path, const ShardFile& shard, const MappedFile& tokens,
                         size_t token_bytes, const MappedFile& documents)
    : file_(path), contents_bytes_(static_cast<size_t>(shard.num_documents) * sizeof(ContentId)) {
  const size_t of_contents = num_chunks(contents_bytes_),
               of_tokens = num_chunks(tokens.bytes().size()),
               of_documents = num_chunks(documents.bytes().size());
  const size_t expected =
      contents_bytes_ + (of_contents + of_tokens + of_documents) * sizeof(uint64_t);
  const std::string_view bytes = file_.bytes();
  ingot::check(bytes.size() == expected, ErrorCode::Data,
               "{}: {}: expected {} bytes, got {}; the file changed after it was written", path,
               bytes.size() < expected ? "truncated" : "too long", expected, bytes.size());
  const std::string_view lists = bytes.substr(contents_bytes_);
  const uint64_t hash = XXH3_64bits(lists.data(), lists.size());
  ingot::check(hash == shard.hashes_hash, ErrorCode::Data,
               "{}: the file changed after it was written: its manifest says hash {:016x}, got "
               "{:016x}; restore it from a copy or make the shards again",
               path, shard.hashes_hash.value_or(0), hash);
  // A mapping begins at a page and ContentIds are of 16 bytes, so the lists are aligned.
  const std::span list(reinterpret_cast<const uint64_t*>(lists.data()),
                       lists.size() / sizeof(uint64_t));
  contents_ = std::make_unique<CheckedChunks>(
      file_, bytes.substr(0, contents_bytes_), list.first(of_contents),
      CheckedChunks::Unit{"contents of documents", sizeof(ContentId)});
  tokens_ =
      std::make_unique<CheckedChunks>(tokens, tokens.bytes(), list.subspan(of_contents, of_tokens),
                                      CheckedChunks::Unit{"tokens", token_bytes});
  documents_ = std::make_unique<CheckedChunks>(
      documents, documents.bytes(), list.subspan(of_contents + of_tokens),
      CheckedChunks::Unit{"documents", sizeof(DocumentRecord)});
}

ContentId ShardHashes::content(int64_t document) const {
  const size_t at = static_cast<size_t>(document) * sizeof(ContentId);
  contents_->check(at, at + sizeof(ContentId));
  ContentId content;
  std::memcpy(&content, file_.bytes().data() + at, sizeof(content));
  return content;
}

void ShardHashes::check_all() const {
  contents_->check_all();
  tokens_->check_all();
  documents_->check_all();
}

}  // namespace ingot
