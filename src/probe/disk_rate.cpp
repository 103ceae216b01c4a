#include "probe/disk_rate.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/system/timing.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kPiece = size_t{4} << 20;  // large enough to keep a disk's queue full
constexpr size_t kAlignment = 4096;         // of O_DIRECT
constexpr double kSeconds = 3.0;            // of writing, and again of reading

// Not by Storage, which hides what matters here: the flags, the cache and when bytes are on disk.
class File {
 public:
  File(const std::string& folder, std::string path) : folder_(folder), path_(std::move(path)) {
    descriptor_ = open(path_.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
    direct_ = descriptor_ >= 0;
    if (!direct_ && errno == EINVAL)
      descriptor_ = open(path_.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
    expect(descriptor_ >= 0, "open a file");
  }
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
    unlink(path_.c_str());
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool direct() const { return direct_; }
  void write(const void* piece) const {
    const ssize_t written = ::write(descriptor_, piece, kPiece);
    if (written >= 0) errno = ENOSPC;  // why less than all was taken
    expect(written == static_cast<ssize_t>(kPiece), "write");
  }
  void sync() const { expect(fsync(descriptor_) == 0, "sync"); }
  void rewind() const {
    if (!direct_) posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
    expect(lseek(descriptor_, 0, SEEK_SET) == 0, "seek");
  }
  void read(void* piece) const {
    expect(::read(descriptor_, piece, kPiece) == static_cast<ssize_t>(kPiece), "read");
  }

 private:
  void expect(bool ok, const char* what) const {
    check(ok, ErrorCode::Storage, "{}: cannot {} there: {}", folder_, what, std::strerror(errno));
  }

  const std::string& folder_;
  const std::string path_;
  int descriptor_ = -1;
  bool direct_ = false;
};

}  // namespace

DiskRate measure_disk(const std::string& folder, int64_t most_bytes) {
  const std::unique_ptr<void, void (*)(void*)> piece(std::aligned_alloc(kAlignment, kPiece),
                                                     std::free);
  check(piece != nullptr, ErrorCode::Memory, "a buffer of {} bytes to write from", kPiece);
  // Of bytes that do not compress.
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < kPiece / sizeof state; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    static_cast<uint64_t*>(piece.get())[i] = state ^ (state >> 33);
  }

  const File file(folder, join_path(folder, fmt::format("ingot-probe-{}.tmp", getpid())));
  DiskRate rate;
  rate.direct = file.direct();
  const int64_t most = most_bytes / static_cast<int64_t>(kPiece);
  int64_t pieces = 0;
  auto start = Clock::now();
  while (pieces == 0 || (pieces < most && seconds_since(start) < kSeconds)) {
    file.write(piece.get());
    ++pieces;
  }
  file.sync();
  rate.bytes = pieces * static_cast<int64_t>(kPiece);
  rate.write_bytes_s = static_cast<double>(rate.bytes) / seconds_since(start);

  file.rewind();
  int64_t read = 0;
  start = Clock::now();
  while (read == 0 || (read < pieces && seconds_since(start) < kSeconds)) {
    file.read(piece.get());
    ++read;
  }
  rate.read_bytes_s =
      static_cast<double>(read) * static_cast<double>(kPiece) / seconds_since(start);
  return rate;
}

}  // namespace ingot
