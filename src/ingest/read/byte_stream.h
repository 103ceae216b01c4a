// The decompressed bytes of a local or remote file, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ingest/read/document_reader.h"
#include "shards/document_kinds.h"

namespace ingot {

// For one thread. Every error names the file and the position in it.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Reads up to `size` bytes into `into`; 0 only at the end. Throws ErrorCode::Data if the file is
  // damaged or truncated, ErrorCode::Storage if it cannot be read.
  virtual size_t read(char* into, size_t size) = 0;
  virtual int64_t bytes_read() const = 0;  // of the file as stored
  // The content hash, for streams of open_stream(): reads the rest of the file. Empty for other
  // streams.
  virtual InputContent content() { return {}; }
  // The version of a remote file that the bytes so far belong to, as named by its server.
  virtual std::string version() const { return {}; }
};

std::unique_ptr<ByteStream> open_local_file(const std::string& path);

// Decompresses `inner`. Consecutive members are one stream. Anything else after the last member is
// an error, as is an end within a member.
std::unique_ptr<ByteStream> decompress_gzip(std::unique_ptr<ByteStream> inner, std::string name);
std::unique_ptr<ByteStream> decompress_zstd(std::unique_ptr<ByteStream> inner, std::string name);

// Throws ErrorCode::Data if a file's first bytes are those of a compression or kind that its name
// does not say. Read by its name, all of it would be left out.
void check_first_bytes(const InputFile& file, std::string_view head);

// The file's contents, decompressed by its name. Hashes the stored bytes as it reads them, and
// passes the decompressed beginning to check_first_bytes().
std::unique_ptr<ByteStream> open_stream(const InputFile& file, const ReadSettings& settings);

}  // namespace ingot
