// Files whose size and XXH3-64 are known once they are written.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/storage/storage.h"

namespace ingot {

struct FileFacts {
  int64_t bytes = 0;
  uint64_t hash = 0;  // XXH3-64
  bool operator==(const FileFacts&) const = default;
};

// The most bytes read, written or hashed at once, so that memory does not grow with the file.
inline constexpr int64_t kFileChunkBytes = int64_t{4} << 20;

class HashedFile {
 public:
  HashedFile(Storage& storage, const std::string& path);
  ~HashedFile();

  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  FileFacts finish();  // syncs and closes

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

FileFacts hash_file(const ReadableFile& file);
uint64_t hash_text(std::string_view text);

}  // namespace ingot
