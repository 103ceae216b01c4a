// Measures the file system of a folder.
#pragma once

#include <cstdint>
#include <string>

namespace ingot {

struct DiskRate {
  int64_t bytes = 0;  // written and read
  double write_bytes_s = 0.0, read_bytes_s = 0.0;
  // True: bypasses the page cache (O_DIRECT). False: writes through it and syncs, and reads after
  // asking the system to drop the cached pages, which it may ignore: a rate above the disk's is the
  // memory's.
  bool direct = false;
};

// Writes a file in `folder`, up to `most_bytes` or for about three seconds, syncs it, reads it and
// removes it. Throws ErrorCode::Storage naming the folder.
DiskRate measure_disk(const std::string& folder, int64_t most_bytes);

}  // namespace ingot
