#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "remote/spool.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLockPause{100};

// PATH.part holds what came so far, PATH.part.json of which version it is; both give way to PATH.
class FileSpool final : public Spool {
 public:
  FileSpool(std::string path, const WebFile& file)
      : path_(std::move(path)),
        part_(path_ + ".part"),
        description_(part_ + ".json"),
        url_(file.url) {
    fs::create_directories(fs::path(path_).parent_path());
  }
  ~FileSpool() override {
    if (file_ >= 0) ::close(file_);
  }

  Start begin() override {
    file_ = open_or_throw(part_, O_RDWR | O_CREAT);
    check(lock(), ErrorCode::Storage, "{}: nobody waits for it any more", path_);
    std::error_code error;
    if (fs::exists(path_, error)) return use_whole_file();
    // Another process may have renamed or removed the file that this one has opened.
    struct stat here {
    }, there{};
    if (fstat(file_, &here) != 0 || stat(part_.c_str(), &there) != 0 ||
        here.st_ino != there.st_ino) {
      ::close(file_);
      return begin();
    }
    described_ = read_description();
    const bool is_known = described_.total_bytes >= 0 || !described_.etag.empty();
    written_ = is_known ? here.st_size : 0;
    if (written_ == 0) described_ = {};
    return {.offset = written_, .version = described_, .is_whole = false};
  }

  // What was written becomes readable only now: it might have been of another version.
  void version(const WebVersion& version) override {
    if (version.etag != described_.etag || version.total_bytes != described_.total_bytes) {
      const nlohmann::json description{
          {"url", url_}, {"etag", version.etag}, {"total_bytes", version.total_bytes}};
      write_file_atomically(*posix_storage(), description_, description.dump() + "\n");
      described_ = version;
    }
    const std::lock_guard guard(mutex_);
    etag_ = version.etag;
    available_ = written_;
    changed_.notify_all();
  }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = pwrite(file_, bytes.data(), bytes.size(), written_);
      if (count < 0 && errno == EINTR) continue;
      check(count > 0, ErrorCode::Storage, "{}: {}", part_, std::strerror(errno));
      bytes.remove_prefix(static_cast<size_t>(count));
      written_ += count;
    }
    const std::lock_guard guard(mutex_);
    available_ = written_;
    changed_.notify_all();
  }

  bool restart() override {
    const std::lock_guard guard(mutex_);
    if (given_ > 0) return false;
    written_ = available_ = 0;
    check(ftruncate(file_, 0) == 0, ErrorCode::Storage, "{}: {}", part_, std::strerror(errno));
    return true;
  }

 private:
  static int open_or_throw(const std::string& path, int flags) {
    const int file = open(path.c_str(), flags | O_CLOEXEC, 0644);
    check(file >= 0, ErrorCode::Storage, "{}: {}; is the cache folder writable?", path,
          std::strerror(errno));
    return file;
  }

  // Whoever holds the lock is fetching this file. False where nobody wants it any more.
  bool lock() {
    while (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      check(errno == EWOULDBLOCK || errno == EINTR, ErrorCode::Storage, "{}: {}", part_,
            std::strerror(errno));
      std::unique_lock guard(mutex_);
      changed_.wait_for(guard, kLockPause, [&] { return closed_; });
      if (closed_) return false;
    }
    return true;
  }

  Start use_whole_file() {
    unlink(part_.c_str());
    ::close(file_);
    file_ = open_or_throw(path_, O_RDONLY);
    is_whole_ = true;
    written_ = static_cast<int64_t>(fs::file_size(path_));
    return {.offset = written_, .version = {}, .is_whole = true};
  }

  WebVersion read_description() const {
    try {
      const auto description = nlohmann::json::parse(read_text(*posix_storage(), description_));
      if (description.at("url") != url_) return {};
      return {description.at("etag"), description.at("total_bytes")};
    } catch (const std::exception&) {
      return {};  // what lies there is of no known version
    }
  }

  void end(bool whole) override {
    if (whole && !is_whole_) {
      check(ftruncate(file_, written_) == 0 && fsync(file_) == 0, ErrorCode::Storage, "{}: {}",
            part_, std::strerror(errno));
      posix_storage()->rename(part_, path_);
      std::error_code error;
      fs::remove(description_, error);
    }
    flock(file_, LOCK_UN);
    const std::lock_guard guard(mutex_);
    if (whole) available_ = written_;
  }

  size_t available() const override { return static_cast<size_t>(available_ - given_); }
  size_t take(char* into, size_t size) override {
    const ssize_t count = pread(file_, into, std::min(size, available()), given_);
    check(count > 0, ErrorCode::Storage, "{}: {}", path_,
          count < 0 ? std::strerror(errno) : "shorter than it was");
    return static_cast<size_t>(count);
  }

  std::string path_, part_, description_, url_;
  int file_ = -1;
  WebVersion described_;   // in the .json file
  bool is_whole_ = false;  // from the beginning
  int64_t written_ = 0;    // the fetching thread's
  int64_t available_ = 0;
};

}  // namespace

std::unique_ptr<Spool> file_spool(const std::string& path, const WebFile& file) {
  return std::make_unique<FileSpool>(path, file);
}

}  // namespace ingot
