// Files over HTTP as prefetched streams, and the cache folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/storage/byte_stream.h"
#include "remote/fetch.h"

namespace ingot {

// A separate thread fetches while the caller works. Without a cache folder it is at most some
// megabytes ahead. With one, the bytes are written to the folder at the network's speed and read
// from there. If the transfer ends early, the next one continues from the stored bytes; a complete
// file is read without the network. Processes that need the same file wait for the one that fetches
// it.
std::unique_ptr<ByteStream> open_web_stream(const WebFile& file, const RemoteSettings& settings);

// The path of the complete file in the cache folder; empty: it is not there.
std::string cached_path(const WebFile& file, const RemoteSettings& settings);

// Called several times a second with the number of bytes received.
using FetchProgress = std::function<void(int64_t bytes)>;

// Fetches the file to the cache folder and returns its path. Throws ErrorCode::Usage if there is no
// cache folder.
std::string fetch_to_cache(const WebFile& file, const RemoteSettings& settings,
                           const FetchProgress& progress = {});

}  // namespace ingot
