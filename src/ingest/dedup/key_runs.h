// Keys of documents on disk: sorted runs, and their merge in bounded memory. Documents with equal
// keys are duplicates.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/storage/storage.h"

namespace ingot {

// As stored in files: 24 bytes, little-endian.
struct KeyRecord {
  uint64_t high = 0, low = 0;       // the 128-bit key
  uint32_t file = 0, document = 0;  // the document
  auto operator<=>(const KeyRecord&) const = default;
};
static_assert(sizeof(KeyRecord) == 24);

// A sorted part of a file.
struct KeyRun {
  std::string path;
  int64_t first = 0, count = 0;  // records
};

// Collects keys by partition and writes them as sorted runs whenever the memory is full. A file
// holds run after run, and in each run partition after partition.
class KeyRunWriter {
 public:
  KeyRunWriter(Storage& storage, std::string path, int64_t num_partitions, int64_t memory_bytes);

  void add(int64_t partition, const KeyRecord& record);
  // Syncs the file; afterwards counts()[run][partition] is the number of records.
  void finish();
  const std::vector<std::vector<int64_t>>& counts() const { return counts_; }

 private:
  void flush();

  std::unique_ptr<WritableFile> file_;
  int64_t max_records_, num_records_ = 0;
  std::vector<std::vector<KeyRecord>> partitions_;
  std::vector<std::vector<int64_t>> counts_;
};

// The runs of one partition in a file with these counts.
std::vector<KeyRun> runs_of_partition(const std::string& path,
                                      const std::vector<std::vector<int64_t>>& counts,
                                      int64_t partition);

// Calls sink with all records in order. If there are more runs than buffers in memory, they are
// merged in several passes with temporary files whose names begin with `scratch_path`.
void merge_runs(Storage& storage, std::vector<KeyRun> runs, int64_t memory_bytes,
                const std::string& scratch_path, const std::function<void(const KeyRecord&)>& sink);

}  // namespace ingot
