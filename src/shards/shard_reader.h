// One shard, mapped.
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

// Positions are in tokens and documents from the shard's beginning. Thread-safe. Memory does not
// grow with the shard: pages are the system's, and release_tokens() gives them back.
class ShardReader {
 public:
  // Throws ErrorCode::Data when a file is missing or not of the size that the manifest says. What
  // the files hold is checked where it is used: tokens and documents are compared with NAME.hashes
  // when they are first read; where there is none, offsets that lead nowhere and ids outside the
  // vocabulary throw, and only check_hashes() finds every change.
  ShardReader(const std::string& folder, const ShardManifest& manifest, size_t shard);

  const std::string& path() const { return path_; }  // without the files' extensions
  int64_t num_tokens() const { return num_tokens_; }
  int64_t num_documents() const { return static_cast<int64_t>(records_.size()); }

  void tokens(int64_t begin, std::span<int32_t> out) const;
  // Takes the pages of tokens [begin, end) out of the resident set.
  void release_tokens(int64_t begin, int64_t end) const;

  int64_t document_of(int64_t position) const;
  int64_t document_begin(int64_t document) const;
  int64_t document_end(int64_t document) const;
  DocumentId id(int64_t document) const { return record(document).id; }
  int64_t num_bytes(int64_t document) const {  // of the text it came from
    return static_cast<int64_t>(record(document).bytes);
  }
  // From NAME.hashes; where there is none, made from the document's tokens.
  ContentId content(int64_t document) const;
  // Neighbours come cheaply: a frame of names is kept.
  DocumentName name(int64_t document) const;

  bool has_hashes() const { return hashes_ != nullptr; }
  // Reads all files; throws ErrorCode::Data naming the one that is not what was written.
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
  std::unique_ptr<ShardHashes> hashes_;  // empty: the shard has none

  mutable std::mutex mutex_;            // of what follows
  mutable std::vector<size_t> frames_;  // where each begins in the names file
  mutable size_t decoded_frame_ = SIZE_MAX;
  mutable std::vector<DocumentName> decoded_;
};

}  // namespace ingot
