// Files over HTTP as streams that are fetched ahead, and the folder that keeps them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ingest/read/byte_stream.h"
#include "ingest/read/remote/fetch.h"

namespace ingot {

// A thread of its own fetches while the caller works. Without a cache folder it is some megabytes
// ahead at most. With one, the bytes go to the folder at the network's speed and are read from
// there; what is there when the transfer ends early is the beginning of the next one, and a file
// that is there whole is read without the network. Processes that want the same file wait for the
// one that fetches it.
std::unique_ptr<ByteStream> open_web_stream(const WebFile& file, const RemoteSettings& settings);

// Where the file lies whole in the cache folder; empty: it does not.
std::string cached_path(const WebFile& file, const RemoteSettings& settings);

// Told several times a second how many bytes are there.
using FetchProgress = std::function<void(int64_t bytes)>;

// The file's path in the cache folder, once it is there whole. Throws ErrorCode::Usage where there
// is no cache folder.
std::string fetch_to_cache(const WebFile& file, const RemoteSettings& settings,
                           const FetchProgress& progress = {});

}  // namespace ingot
