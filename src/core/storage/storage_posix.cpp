#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/storage/storage.h"

namespace ingot {
namespace {

std::string advice_on(int reason) {
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
      return "check the path";
    case ENOSPC:
      return "free some space";
    case EDQUOT:
      return "your quota there is used up: free some space or ask for more";
    case EFBIG: {
      struct rlimit limit {};
      ::getrlimit(RLIMIT_FSIZE, &limit);
      return limit.rlim_cur == RLIM_INFINITY
                 ? "the file system has no larger files"
                 : fmt::format("files may have {} bytes here: raise the limit (ulimit -f)",
                               limit.rlim_cur);
    }
    default:
      return "check the disk and the permissions";
  }
}

[[noreturn]] void fail(const char* what, const std::string& path, int reason) {
  const bool missing = reason == ENOENT || reason == ENOTDIR || reason == EISDIR;
  throw Error(
      missing ? ErrorCode::Data : ErrorCode::Storage,
      fmt::format("cannot {} '{}': {}; {}", what, path, std::strerror(reason), advice_on(reason)));
}

class Descriptor {
 public:
  Descriptor(const char* what, const std::string& path, int flags)
      : path_(path), fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail(what, path, errno);
    if (log::is_verbose()) log::debug("file", {{"to", what}, {"path", path}});
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  const std::string& path() const { return path_; }
  void sync() const {
    // A pipe or device has nothing to sync, and says so by EINVAL.
    if (::fsync(fd_) != 0 && errno != EINVAL) fail("sync", path_, errno);
  }
  void close() {
    if (fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0) fail("close", path_, errno);
  }

 private:
  std::string path_;
  int fd_;
};

class PosixWriter : public WritableFile {
 public:
  PosixWriter(const std::string& path, int flags)
      : file_("write", path, O_WRONLY | O_CREAT | O_APPEND | flags) {}

  void append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write", file_.path(), errno);
      bytes = bytes.subspan(static_cast<size_t>(written));
      since_writeback_ += written;
    }
    if (since_writeback_ < kWritebackBytes) return;
    since_writeback_ = 0;
    // A hint: where a file system does not take it, sync() has all the work, as without it.
    ::sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  }
  void sync() override { file_.sync(); }
  void close() override { file_.close(); }

 private:
  // Of a large file this much goes to the disk at a time while the next is made. Left to itself the
  // kernel waits for a tenth of the memory, and sync() then for nearly all of the file.
  static constexpr int64_t kWritebackBytes = int64_t{32} << 20;

  Descriptor file_;
  int64_t since_writeback_ = 0;
};

class PosixReader : public ReadableFile {
 public:
  enum class Pages { Stay, Dropped };  // of the page cache, that a read has filled

  // Not to wait on a pipe's writer; a regular file knows no such waiting.
  PosixReader(const std::string& path, Pages pages)
      : file_("open", path, O_RDONLY | O_NONBLOCK),
        flags_(pages == Pages::Dropped ? kDropPages : 0) {
    struct stat facts {};
    if (::fstat(file_.get(), &facts) != 0) fail("open", path, errno);
    if (S_ISDIR(facts.st_mode)) fail("open", path, EISDIR);
    check(S_ISREG(facts.st_mode), ErrorCode::Data,
          "cannot open '{}': expected a regular file, got a pipe, device or socket", path);
    size_ = facts.st_size;
  }

  int64_t size() const override { return size_; }

  void read(int64_t offset, std::span<std::byte> into) const override {
    while (!into.empty()) {
      const iovec piece = {into.data(), into.size()};
      const int flags = flags_;
      const ssize_t got = ::preadv2(file_.get(), &piece, 1, offset, flags);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EOPNOTSUPP && flags != 0) {
        flags_ = 0;
        continue;
      }
      if (got < 0) fail("read", file_.path(), errno);
      check(got > 0, ErrorCode::Data,
            "'{}' is too short: expected {} more bytes at {}, the file ends at {}", file_.path(),
            into.size(), offset, size_);
      into = into.subspan(static_cast<size_t>(got));
      offset += got;
    }
  }

 private:
  // RWF_DONTCACHE of Linux 6.14, which older headers do not have. Older kernels and some file
  // systems refuse it; their pages stay.
  static constexpr int kDropPages = 0x80;

  Descriptor file_;
  mutable std::atomic<int> flags_;  // of preadv2
  int64_t size_ = 0;
};

// A byte of the file, locked by this open of it: threads exclude each other as processes do.
class PosixLock : public StorageLock {
 public:
  explicit PosixLock(const std::string& path) : file_("lock", path, O_RDWR | O_CREAT) {}

  bool take(int64_t number) const {
    struct flock wanted {};
    wanted.l_type = F_WRLCK;
    wanted.l_whence = SEEK_SET;
    wanted.l_start = number;
    wanted.l_len = 1;
    while (::fcntl(file_.get(), F_OFD_SETLK, &wanted) != 0) {
      if (errno == EAGAIN || errno == EACCES) return false;
      check(errno != ENOSYS && errno != EOPNOTSUPP && errno != ENOLCK, ErrorCode::Storage,
            "cannot lock '{}': {}; its file system must have locks, so that no two processes "
            "write one file (Lustre: mount with -o flock): use a folder elsewhere",
            file_.path(), std::strerror(errno));
      if (errno != EINTR) fail("lock", file_.path(), errno);
    }
    return true;
  }

 private:
  Descriptor file_;
};

class PosixStorage : public Storage {
 public:
  std::unique_ptr<WritableFile> create(const std::string& path) override {
    return std::make_unique<PosixWriter>(path, O_TRUNC);
  }
  std::unique_ptr<WritableFile> open_append(const std::string& path) override {
    return std::make_unique<PosixWriter>(path, 0);
  }
  std::unique_ptr<ReadableFile> open(const std::string& path) override {
    return std::make_unique<PosixReader>(path, PosixReader::Pages::Stay);
  }
  std::unique_ptr<ReadableFile> open_once(const std::string& path) override {
    return std::make_unique<PosixReader>(path, PosixReader::Pages::Dropped);
  }
  bool exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  std::vector<std::string> list(const std::string& directory) override {
    std::error_code reason;
    std::vector<std::string> names;
    for (auto at = std::filesystem::directory_iterator(directory, reason);
         !reason && at != std::filesystem::directory_iterator(); at.increment(reason)) {
      names.push_back(at->path().filename().string());
    }
    if (reason) fail("list", directory, reason.value());
    std::sort(names.begin(), names.end());
    return names;
  }

  void make_directories(const std::string& path) override {
    if (path.empty() || std::filesystem::is_directory(path)) return;
    const std::string parent = parent_path(path);
    make_directories(parent);
    if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
      fail("make the folder", path, errno);
    }
    if (!std::filesystem::is_directory(path)) fail("make the folder", path, EEXIST);
    sync_directory(parent);
  }

  void rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) fail("rename to", to, errno);
  }

  void remove(const std::string& path) override {
    std::error_code reason;
    const auto removed = std::filesystem::remove_all(path, reason);
    if (reason) fail("remove", path, reason.value());
    if (removed == 0) fail("remove", path, ENOENT);
  }

  void truncate(const std::string& path, int64_t size) override {
    if (::truncate(path.c_str(), size) != 0) fail("truncate", path, errno);
  }

  void sync_directory(const std::string& path) override {
    Descriptor("sync", path, O_RDONLY | O_DIRECTORY).sync();
  }

  std::unique_ptr<StorageLock> try_lock(const std::string& path, int64_t number) override {
    auto lock = std::make_unique<PosixLock>(path);
    if (!lock->take(number)) return nullptr;
    return lock;
  }

  std::optional<int64_t> free_bytes(const std::string& path) override {
    std::string there = path;
    while (!exists(there) && parent_path(there) != there) there = parent_path(there);
    struct statvfs facts {};
    // File systems that have no blocks count none.
    if (::statvfs(there.c_str(), &facts) != 0 || facts.f_blocks == 0) return std::nullopt;
    const auto blocks = ::geteuid() == 0 ? facts.f_bfree : facts.f_bavail;
    return static_cast<int64_t>(blocks * facts.f_frsize);
  }
};

}  // namespace

std::shared_ptr<Storage> posix_storage() {
  return std::make_shared<PosixStorage>();
}

}  // namespace ingot
