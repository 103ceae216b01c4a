// Remote files: http(s)://, hf:// and s3://.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ingest/read/byte_stream.h"
#include "ingest/read/document_reader.h"
#include "ingest/read/listed_files.h"

namespace ingot {

bool is_remote(const std::string& location);

// Throws like ByteStream::read(); ErrorCode::Data for other kinds of addresses.
std::unique_ptr<ByteStream> open_remote(const std::string& address, const ReadSettings& settings);

// For a file that is not read sequentially: the path of a copy in the cache folder, or an s3://
// address itself, which supports random access.
std::string local_or_s3(const std::string& address, const RemoteSettings& remote);

// The path of the copy in the cache folder; empty if there is none.
std::string cached_copy(const std::string& address, const RemoteSettings& remote);

// The server's current version, named as by ByteStream::version(); empty if it has none or does not
// answer.
std::string remote_version(const std::string& address, const RemoteSettings& remote);

// Whether the address names an immutable version: a commit of the hub.
bool never_changes(const std::string& address);

// The files of the address, as in list_input_files(), in no order.
ListedFiles list_remote(const std::string& address, const RemoteSettings& remote);

// Whether the path matches, component by component; "**" matches any number of them.
bool matches_pattern(const std::string& pattern, const std::string& path);

}  // namespace ingot
