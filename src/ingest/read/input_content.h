// Detects whether an input file has changed since it was read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ingest/read/byte_stream.h"
#include "ingest/read/document_reader.h"

namespace ingot {

// File system metadata: if none of it has changed, neither has the content.
struct FileStamp {
  int64_t bytes = -1, mtime_ns = 0;
  uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::string& path);  // default-constructed if stat fails

// Hashes `inner`, a file as stored, as it is read: content() returns the hash.
std::unique_ptr<ByteStream> hashed(std::unique_ptr<ByteStream> inner);

// Reads the file; throws like ByteStream::read().
InputContent content_of_file(Storage& storage, const std::string& path);

}  // namespace ingot
