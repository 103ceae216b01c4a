// What tells whether an input file is still what it was when it was read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ingest/read/byte_stream.h"
#include "ingest/read/document_reader.h"

namespace ingot {

// What the file system says of a file: where nothing of it changed, its content has not either.
struct FileStamp {
  int64_t bytes = -1, mtime_ns = 0;
  uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::string& path);  // a default one where it cannot be looked at

// `inner`, a file as stored, hashed on its way: content() knows it.
std::unique_ptr<ByteStream> hashed(std::unique_ptr<ByteStream> inner);

// Reads the file; throws as ByteStream::read() does.
InputContent content_of_local_file(const std::string& path);

}  // namespace ingot
