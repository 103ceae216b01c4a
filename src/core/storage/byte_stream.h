// The bytes of a file in order, wherever it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ingot {

class Storage;

// Identifies a file's content, to detect changes.
struct InputContent {
  std::string hash;     // XXH3-128 of the stored bytes, in hexadecimal; empty: unknown
  std::string version;  // a remote file's version, as named by its server; empty: unknown
};

// For one thread. Every error names the file and the position in it.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Reads up to `size` bytes into `into`; 0 only at the end. Throws ErrorCode::Data if the file is
  // damaged or truncated, ErrorCode::Storage if it cannot be read.
  virtual size_t read(char* into, size_t size) = 0;
  virtual int64_t bytes_read() const = 0;  // of the file as stored
  // The content hash, for streams that hash: reads the rest of the file. Empty for other streams.
  virtual InputContent content() { return {}; }
  // The version of a remote file that the bytes so far belong to, as named by its server.
  virtual std::string version() const { return {}; }
};

// A file of `storage`, as long as it is when it is opened.
std::unique_ptr<ByteStream> open_byte_stream(Storage& storage, const std::string& path);

}  // namespace ingot
