#include "ingest/read/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error/error.h"
#include "ingest/read/input_content.h"
#include "ingest/read/remote/remote.h"

namespace ingot {
namespace {

class LocalFile final : public ByteStream {
 public:
  explicit LocalFile(const std::string& path) : path_(path) {
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    check(file_ >= 0, errno == ENOENT ? ErrorCode::Data : ErrorCode::Storage, "{}: {}", path,
          std::strerror(errno));
    struct stat status {};
    if (fstat(file_, &status) != 0 || S_ISDIR(status.st_mode)) {
      close(file_);
      throw Error(ErrorCode::Data, path + ": expected a file, got a folder");
    }
    posix_fadvise(file_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  ~LocalFile() override { close(file_); }

  size_t read(char* into, size_t size) override {
    ssize_t count;
    do {
      count = ::read(file_, into, size);
    } while (count < 0 && errno == EINTR);
    check(count >= 0, ErrorCode::Storage, "{}: at byte {}: {}", path_, bytes_read_,
          std::strerror(errno));
    bytes_read_ += count;
    return static_cast<size_t>(count);
  }
  int64_t bytes_read() const override { return bytes_read_; }

 private:
  std::string path_;
  int file_ = -1;
  int64_t bytes_read_ = 0;
};

}  // namespace

std::unique_ptr<ByteStream> open_local_file(const std::string& path) {
  return std::make_unique<LocalFile>(path);
}

std::unique_ptr<ByteStream> open_stream(const InputFile& file, const ReadSettings& settings) {
  std::unique_ptr<ByteStream> stream =
      hashed(is_remote(file.location) ? open_remote(file.location, settings.remote)
                                      : open_local_file(file.location));
  const std::string compression = file_kind(file.name).compression;
  if (compression == ".gz") return decompress_gzip(std::move(stream), file.location);
  if (compression == ".zst") return decompress_zstd(std::move(stream), file.location);
  return stream;
}

}  // namespace ingot
