#include "ingest/read/byte_stream.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/text/ascii.h"
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

constexpr std::array<std::string_view, 9> kKinds{".txt", ".md",  ".jsonl",   ".ndjson", ".json",
                                                 ".csv", ".tsv", ".parquet", ".warc"};

// Takes the last extension, in lower case, off `name`.
std::string take_extension(std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || name.find('/', dot) != std::string::npos) return "";
  const std::string extension = lower_case(std::string_view(name).substr(dot));
  name.resize(dot);
  return extension;
}

}  // namespace

std::unique_ptr<ByteStream> open_local_file(const std::string& path) {
  return std::make_unique<LocalFile>(path);
}

FileKind file_kind(const std::string& name) {
  std::string rest = name;
  FileKind result;
  result.kind = take_extension(rest);
  if (result.kind == ".gz" || result.kind == ".zst") {
    result.compression = result.kind;
    result.kind = take_extension(rest);
  }
  return result;
}

bool is_readable_kind(const std::string& kind) {
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

std::string readable_kinds() {
  return fmt::format("{}", fmt::join(kKinds, " "));
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
