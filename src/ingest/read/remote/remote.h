// Addresses instead of paths: http(s)://, hf:// and s3://.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ingest/read/byte_stream.h"
#include "ingest/read/document_reader.h"

namespace ingot {

bool is_remote(const std::string& location);

// Throws as ByteStream::read(); for addresses of another kind ErrorCode::Data.
std::unique_ptr<ByteStream> open_remote(const std::string& address, const RemoteSettings& remote);

// For a file that is not read front to back: the path of a copy in the cache folder, or the address
// itself where it is an s3:// one, which can be read anywhere.
std::string local_or_s3(const std::string& address, const RemoteSettings& remote);

// The path of the copy in the cache folder; empty where there is none.
std::string cached_copy(const std::string& address, const RemoteSettings& remote);

// Which version the server has now, by the name that ByteStream::version() gives it; empty where
// it has none or cannot be asked.
std::string remote_version(const std::string& address, const RemoteSettings& remote);

// Whether the address names one version of a file: of the hub's, a commit's.
bool never_changes(const std::string& address);

// What the address stands for, as list_input_files() has it, in no order.
std::vector<InputFile> list_remote(const std::string& address, const RemoteSettings& remote);

// Does the path match, component by component? "**" stands for any number of them.
bool matches_pattern(const std::string& pattern, const std::string& path);

}  // namespace ingot
