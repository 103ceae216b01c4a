#include "ingest/dedup/key_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

namespace ingot {
namespace {

// Large enough for sequential reads at disk speed, small enough for thousands of runs.
constexpr int64_t kBufferRecords = 2048;
constexpr int64_t kBufferBytes = kBufferRecords * static_cast<int64_t>(sizeof(KeyRecord));
constexpr int64_t kMinFanIn = 2;

// Reads a run from its beginning to its end. The file is opened for each buffer: how many runs are
// merged is limited by memory, not by how many files a process may have open.
class RunCursor {
 public:
  RunCursor(Storage& storage, KeyRun run) : storage_(storage), run_(std::move(run)) { refill(); }

  bool at_end() const { return next_ == buffer_.size(); }
  const KeyRecord& current() const { return buffer_[next_]; }
  void advance() {
    if (++next_ == buffer_.size()) refill();
  }

 private:
  void refill() {
    const int64_t count = std::min(run_.count, kBufferRecords);
    buffer_.resize(static_cast<size_t>(count));
    next_ = 0;
    if (count == 0) return;
    storage_.open(run_.path)->read(run_.first * static_cast<int64_t>(sizeof(KeyRecord)),
                                   std::as_writable_bytes(std::span(buffer_)));
    run_.first += count;
    run_.count -= count;
  }

  Storage& storage_;
  KeyRun run_;
  std::vector<KeyRecord> buffer_;
  size_t next_ = 0;
};

void merge_once(Storage& storage, std::span<const KeyRun> runs,
                const std::function<void(const KeyRecord&)>& sink) {
  std::vector<RunCursor> cursors;
  cursors.reserve(runs.size());
  for (const KeyRun& run : runs) cursors.emplace_back(storage, run);
  // Records are unique, file and document being part of them, so their order leaves no choice.
  const auto later = [&](size_t a, size_t b) {
    return cursors[a].current() > cursors[b].current();
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> queue(later);
  for (size_t i = 0; i < cursors.size(); ++i) {
    if (!cursors[i].at_end()) queue.push(i);
  }
  while (!queue.empty()) {
    const size_t i = queue.top();
    queue.pop();
    sink(cursors[i].current());
    cursors[i].advance();
    if (!cursors[i].at_end()) queue.push(i);
  }
}

KeyRun write_merged(Storage& storage, std::span<const KeyRun> runs, const std::string& path) {
  const auto file = storage.create(path);
  std::vector<KeyRecord> buffer;
  KeyRun merged{path, 0, 0};
  const auto flush = [&] {
    file->append(std::as_bytes(std::span(std::as_const(buffer))));
    merged.count += static_cast<int64_t>(buffer.size());
    buffer.clear();
  };
  merge_once(storage, runs, [&](const KeyRecord& record) {
    buffer.push_back(record);
    if (static_cast<int64_t>(buffer.size()) == kBufferRecords) flush();
  });
  flush();
  file->close();
  return merged;
}

}  // namespace

KeyRunWriter::KeyRunWriter(Storage& storage, std::string path, int64_t num_partitions,
                           int64_t memory_bytes)
    : file_(storage.create(path)),
      // A vector that grows may have twice the memory of what is in it.
      max_records_(std::max<int64_t>(1, memory_bytes / (2 * sizeof(KeyRecord)))),
      partitions_(static_cast<size_t>(num_partitions)) {}

void KeyRunWriter::add(int64_t partition, const KeyRecord& record) {
  partitions_[static_cast<size_t>(partition)].push_back(record);
  if (++num_records_ == max_records_) flush();
}

void KeyRunWriter::flush() {
  std::vector<int64_t>& counts = counts_.emplace_back();
  for (std::vector<KeyRecord>& records : partitions_) {
    std::sort(records.begin(), records.end());
    file_->append(std::as_bytes(std::span(std::as_const(records))));
    counts.push_back(static_cast<int64_t>(records.size()));
    records.clear();
  }
  num_records_ = 0;
}

void KeyRunWriter::finish() {
  if (num_records_ > 0) flush();
  file_->sync();
  file_->close();
}

std::vector<KeyRun> runs_of_partition(const std::string& path,
                                      const std::vector<std::vector<int64_t>>& counts,
                                      int64_t partition) {
  std::vector<KeyRun> runs;
  int64_t first = 0;
  for (const std::vector<int64_t>& run : counts) {
    for (size_t p = 0; p < run.size(); ++p) {
      if (static_cast<int64_t>(p) == partition && run[p] > 0) runs.push_back({path, first, run[p]});
      first += run[p];
    }
  }
  return runs;
}

void merge_runs(Storage& storage, std::vector<KeyRun> runs, int64_t memory_bytes,
                const std::string& scratch_path,
                const std::function<void(const KeyRecord&)>& sink) {
  const auto fan_in = static_cast<size_t>(std::max(kMinFanIn, memory_bytes / kBufferBytes - 1));
  std::vector<std::string> scratch;  // files of the pass before
  for (int pass = 0; runs.size() > fan_in; ++pass) {
    std::vector<KeyRun> merged;
    std::vector<std::string> written;
    for (size_t begin = 0; begin < runs.size(); begin += fan_in) {
      const auto group = std::span(runs).subspan(begin, std::min(fan_in, runs.size() - begin));
      written.push_back(fmt::format("{}.{}.{}", scratch_path, pass, merged.size()));
      merged.push_back(write_merged(storage, group, written.back()));
    }
    for (const std::string& path : scratch) storage.remove(path);
    scratch = std::move(written);
    runs = std::move(merged);
  }
  merge_once(storage, runs, sink);
  for (const std::string& path : scratch) storage.remove(path);
}

}  // namespace ingot
