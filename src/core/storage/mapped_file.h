// A file mapped for reading. It does not go through the storage seam: the seam copies, and here
// the bytes are used where they lie, shared by all processes of a machine through the page cache.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ingot {

// Corpora up to this size stay in memory once touched; larger ones give their pages back after each
// use, so that the resident set is bounded by it whatever the corpus.
inline constexpr int64_t kResidentBytes = int64_t{256} << 20;

class MappingRecord;  // of mapped_file.cpp

// The file must not be shortened while it is mapped: reading beyond its new end is a bus error,
// whose handler can ask mapping_at() for the name of the file.
class MappedFile {
 public:
  // Throws ErrorCode::Data when the file is missing, empty or not a regular file, and
  // ErrorCode::Storage when the system refuses.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return {data_, size_}; }
  // Takes the pages wholly or partly in [begin, end) out of the resident set; reading them again
  // brings them back. Thread-safe.
  void release(size_t begin, size_t end) const;
  // XXH3-64 of the bytes, and of the size and 64 places spread evenly where there are more than
  // kResidentBytes.
  uint64_t content_hash() const;

 private:
  std::string path_;
  const char* data_ = nullptr;
  size_t size_ = 0;
  MappingRecord* record_ = nullptr;
};

struct Mapping {
  const char* path;  // null: no MappedFile is there
  size_t size;       // of the file when it was mapped
};

// The MappedFile that holds `address`. Async-signal-safe; what it names is there as long as the
// MappedFile is, which the reader who met the bus error holds.
Mapping mapping_at(const void* address) noexcept;

}  // namespace ingot
