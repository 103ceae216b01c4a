// A file mapped for reading. It does not go through Storage: Storage copies, while mapped bytes are
// used in place and shared by all processes of a machine through the page cache.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ingot {

// Corpora up to this size stay in memory once touched. Larger ones release their pages after each
// use, so that this bounds the resident set for any corpus.
inline constexpr int64_t kResidentBytes = int64_t{256} << 20;

class MappingRecord;  // of mapped_file.cpp

// The file must not be shortened while it is mapped. Reading beyond its new end raises a bus error,
// whose handler can find the file's name with mapping_at().
class MappedFile {
 public:
  // Throws ErrorCode::Data if the file is missing, empty or not a regular file, and
  // ErrorCode::Storage if the system refuses.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return {data_, size_}; }
  // Removes the pages that overlap [begin, end) from the resident set; the next read loads them
  // again. Thread-safe.
  void release(size_t begin, size_t end) const;
  // XXH3-64 of the bytes. For files larger than kResidentBytes, of the size and 64 evenly spaced
  // samples.
  uint64_t content_hash() const;

 private:
  std::string path_;
  const char* data_ = nullptr;
  size_t size_ = 0;
  MappingRecord* record_ = nullptr;
};

struct Mapping {
  const char* path;  // null: not inside a MappedFile
  size_t size;       // of the file when it was mapped
};

// The MappedFile that contains `address`. Async-signal-safe. The result is valid while the
// MappedFile lives; the reader that hit the bus error keeps it alive.
Mapping mapping_at(const void* address) noexcept;

}  // namespace ingot
