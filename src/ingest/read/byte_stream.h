// The decompressed bytes of a local or remote file, in order.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/storage/byte_stream.h"
#include "ingest/read/document_reader.h"
#include "shards/document_kinds.h"

namespace ingot {

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
