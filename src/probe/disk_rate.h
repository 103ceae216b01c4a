// How fast a folder's file system takes and gives back bytes.
#pragma once

#include <cstdint>
#include <string>

namespace ingot {

struct DiskRate {
  int64_t bytes = 0;  // that were written and read
  double write_bytes_s = 0.0, read_bytes_s = 0.0;
  // Past the page cache (O_DIRECT). Else written through it and synced, and read after the system
  // was asked to forget it, which it need not do: a rate above the disk's is the memory's.
  bool direct = false;
};

// Writes a file in `folder`, up to `most_bytes` or for some three seconds, syncs it, reads it and
// removes it. Throws ErrorCode::Storage, naming the folder.
DiskRate measure_disk(const std::string& folder, int64_t most_bytes);

}  // namespace ingot
