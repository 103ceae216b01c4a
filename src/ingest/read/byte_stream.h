// The bytes of a file, front to back, wherever it lies and however it is compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ingest/read/document_reader.h"
#include "shards/document_kinds.h"

namespace ingot {

// Single-threaded. Every error names the file and where in it.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Up to `size` bytes into `into`; 0 only at the end. Throws ErrorCode::Data where the file is
  // damaged or cut short, ErrorCode::Storage where it cannot be read.
  virtual size_t read(char* into, size_t size) = 0;
  virtual int64_t bytes_read() const = 0;  // of the file as stored
  // What the file holds, for streams of open_stream(): reads what is left of it. Of others nothing
  // is known.
  virtual InputContent content() { return {}; }
  // Which version of a remote file the bytes so far are of, as its server names it.
  virtual std::string version() const { return {}; }
};

std::unique_ptr<ByteStream> open_local_file(const std::string& path);

// `inner` decompressed. Members that follow each other are one stream; anything else after the last
// one is an error, as is an end in the middle of one.
std::unique_ptr<ByteStream> decompress_gzip(std::unique_ptr<ByteStream> inner, std::string name);
std::unique_ptr<ByteStream> decompress_zstd(std::unique_ptr<ByteStream> inner, std::string name);

// Throws ErrorCode::Data where a file's first bytes are those of a compression or kind that its
// name does not say: read as the latter, all of it would be left out.
void check_first_bytes(const InputFile& file, std::string_view head);

// The file's contents, decompressed as its name says. What is stored is hashed as it is read. What
// comes out is looked at by check_first_bytes().
std::unique_ptr<ByteStream> open_stream(const InputFile& file, const ReadSettings& settings);

}  // namespace ingot
