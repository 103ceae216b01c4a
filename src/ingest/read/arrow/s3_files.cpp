#include "ingest/read/arrow/s3_files.h"

#include <arrow/buffer.h>
#include <arrow/filesystem/filesystem.h>
#include <arrow/filesystem/s3fs.h>
#include <arrow/util/key_value_metadata.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <future>

#include "ingest/read/arrow/status.h"

namespace ingot::arrow_module {
namespace {

constexpr size_t kSchemeBytes = 5;  // "s3://"
constexpr int64_t kBlockBytes = int64_t{8} << 20;

// The AWS library must be shut down before the process ends, and before Arrow's own objects of
// static lifetime are gone. Exit handlers run last in, first out, and the first connection makes
// the last of those: so this is called after it.
void shut_down_at_exit() {
  static const int registered = std::atexit([] { (void)arrow::fs::EnsureS3Finalized(); });
  (void)registered;
}

std::shared_ptr<arrow::fs::S3FileSystem> connect(const std::string& address,
                                                 const RemoteSettings& remote) {
  unwrap(arrow::fs::EnsureS3Initialized());
  struct AtEnd {
    ~AtEnd() { shut_down_at_exit(); }
  } whether_it_works_or_not;
  auto options =
      remote.s3_anonymous ? arrow::fs::S3Options::Anonymous() : arrow::fs::S3Options::Defaults();
  options.region = remote.s3_region;
  if (!remote.s3_endpoint.empty()) {
    const size_t scheme = remote.s3_endpoint.find("://");
    const bool has_scheme = scheme != std::string::npos;
    options.scheme = has_scheme ? remote.s3_endpoint.substr(0, scheme) : "https";
    options.endpoint_override =
        has_scheme ? remote.s3_endpoint.substr(scheme + 3) : remote.s3_endpoint;
  } else if (options.region.empty()) {
    const std::string bucket =
        address.substr(kSchemeBytes, address.find('/', kSchemeBytes) - kSchemeBytes);
    options.region = unwrap(arrow::fs::ResolveS3BucketRegion(bucket));
  }
  return unwrap(arrow::fs::S3FileSystem::Make(options));
}

std::string etag_of(arrow::io::InputStream& stream) {
  const auto metadata = stream.ReadMetadata();
  if (!metadata.ok() || *metadata == nullptr) return "";
  const auto etag = (*metadata)->Get("ETag");
  return etag.ok() ? *etag : "";
}

// Every read of Arrow's stream is a request, so it reads in large blocks, and the next one while
// the caller works on this.
class S3Stream final : public ByteStream {
 public:
  explicit S3Stream(std::shared_ptr<arrow::io::InputStream> stream)
      : stream_(std::move(stream)), etag_(etag_of(*stream_)) {
    fetch_next();
  }

  size_t read(char* into, size_t size) override {
    if (at_ == block_bytes()) {
      block_ = translated([&] { return unwrap(next_.get()); });
      at_ = 0;
      fetch_next();
    }
    const auto count =
        static_cast<size_t>(std::min(static_cast<int64_t>(size), block_bytes() - at_));
    if (count > 0) std::memcpy(into, block_->data() + at_, count);
    at_ += static_cast<int64_t>(count);
    bytes_read_ += static_cast<int64_t>(count);
    return count;
  }
  int64_t bytes_read() const override { return bytes_read_; }
  std::string version() const override { return etag_; }

 private:
  int64_t block_bytes() const { return block_ == nullptr ? 0 : block_->size(); }
  void fetch_next() {
    next_ = std::async(std::launch::async, [this] { return stream_->Read(kBlockBytes); });
  }

  std::shared_ptr<arrow::io::InputStream> stream_;
  std::string etag_;
  std::shared_ptr<arrow::Buffer> block_;
  int64_t at_ = 0, bytes_read_ = 0;
  std::future<arrow::Result<std::shared_ptr<arrow::Buffer>>> next_;  // its end is waited for
};

}  // namespace

std::shared_ptr<arrow::io::RandomAccessFile> open_s3_file(const std::string& address,
                                                          const RemoteSettings& remote) {
  return unwrap(connect(address, remote)->OpenInputFile(address.substr(kSchemeBytes)));
}

std::unique_ptr<ByteStream> open_s3(const std::string& address, const RemoteSettings& remote) {
  return translated([&] {
    return std::make_unique<S3Stream>(
        unwrap(connect(address, remote)->OpenInputStream(address.substr(kSchemeBytes))));
  });
}

std::string s3_version(const std::string& address, const RemoteSettings& remote) {
  return translated([&] {
    const auto file = open_s3_file(address, remote);
    return etag_of(*file);
  });
}

std::vector<InputFile> list_s3(const std::string& address, const RemoteSettings& remote) {
  return translated([&] {
    const auto files = connect(address, remote);
    std::string path = address.substr(kSchemeBytes);
    while (path.ends_with('/')) path.pop_back();
    std::vector<arrow::fs::FileInfo> infos;
    const auto info = unwrap(files->GetFileInfo(path));
    if (info.IsFile()) {
      infos.push_back(info);
    } else {
      arrow::fs::FileSelector selector;
      selector.base_dir = path;
      selector.recursive = true;
      selector.allow_not_found = true;
      infos = unwrap(files->GetFileInfo(selector));
    }
    std::vector<InputFile> found;
    for (const auto& entry : infos) {
      if (entry.IsFile()) found.push_back({"s3://" + entry.path(), entry.path(), entry.size()});
    }
    return found;
  });
}

}  // namespace ingot::arrow_module
