// Reads one memory-mapped shard.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/storage/mapped_file.h"
#include "shards/manifest.h"
#include "shards/shard_hashes.h"

namespace ingot {

struct DocumentName {
  int64_t source = 0;  // number in ShardManifest::sources
  std::string id;      // unique within the source
};

// Positions are tokens and documents from the shard's start. Thread-safe. Memory does not grow with
// the shard: pages belong to the page cache, and release_tokens() releases them.
class ShardReader {
 public:
  // Throws ErrorCode::Data if a file is missing or does not have the manifest's size. Contents are
  // checked on use: tokens and documents are compared with NAME.hashes when first read. Without
  // NAME.hashes, offsets out of range and ids outside the vocabulary throw, and only check_hashes()
  // finds every change.
  ShardReader(const std::string& folder, const ShardManifest& manifest, size_t shard);

  const std::string& path() const { return path_; }  // without the files' extensions
  int64_t num_tokens() const { return num_tokens_; }
  int64_t num_documents() const { return static_cast<int64_t>(records_.size()); }

  void tokens(int64_t begin, std::span<int32_t> out) const;
  // Removes the pages of tokens [begin, end) from the resident set.
  void release_tokens(int64_t begin, int64_t end) const;

  int64_t document_of(int64_t position) const;
  int64_t document_begin(int64_t document) const;
  int64_t document_end(int64_t document) const;
  DocumentId id(int64_t document) const { return record(document).id; }
  int64_t num_bytes(int64_t document) const {  // of the original text
    return static_cast<int64_t>(record(document).bytes);
  }
  // From NAME.hashes; without it, computed from the document's tokens.
  ContentId content(int64_t document) const;
  // Fast for adjacent documents: a frame of names is cached.
  DocumentName name(int64_t document) const;

  bool has_hashes() const { return hashes_ != nullptr; }
  // Reads all files; throws ErrorCode::Data naming a file that is not what was written.
  void check_hashes(const ShardFile& expected) const;

 private:
  const DocumentRecord& record(int64_t document) const;
  void find_frames() const;
  void decode_frame(size_t frame) const;

  std::string path_;
  MappedFile tokens_, documents_, names_;
  std::span<const DocumentRecord> records_;
  int64_t num_tokens_, token_bytes_, vocab_size_, num_sources_;
  int32_t bos_, eos_;
  std::unique_ptr<ShardHashes> hashes_;  // null: the shard has none

  mutable std::mutex mutex_;            // guards the members below
  mutable std::vector<size_t> frames_;  // start of each frame in the names file
  mutable size_t decoded_frame_ = SIZE_MAX;
  mutable std::vector<DocumentName> decoded_;
};

}  // namespace ingot
