#include "remote/web_stream.h"

#include <xxhash.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "remote/spool.h"

namespace ingot {
namespace {

constexpr std::chrono::milliseconds kProgressPause{200};

class WebStream final : public ByteStream {
 public:
  WebStream(const WebFile& file, const RemoteSettings& settings, std::unique_ptr<Spool> spool)
      : fetch_(file, settings), spool_(std::move(spool)), thread_([this] { fetch(); }) {}
  ~WebStream() override {
    fetch_.cancel();
    spool_->close();
    thread_.join();
  }

  size_t read(char* into, size_t size) override {
    const size_t count = spool_->read(into, size);
    bytes_read_ += static_cast<int64_t>(count);
    return count;
  }
  int64_t bytes_read() const override { return bytes_read_; }
  std::string version() const override { return spool_->etag(); }
  void wait_until_finished(const FetchProgress& progress) {
    while (!spool_->wait_until_finished(kProgressPause))
      if (progress) progress(spool_->bytes());
  }

 private:
  void fetch() {
    try {
      const Spool::Start start = spool_->begin();
      const bool whole = start.is_whole || fetch_.run(start.offset, start.version, *spool_);
      check(whole, ErrorCode::Storage, "the transfer was cancelled");
      spool_->finish(nullptr);
    } catch (...) {
      spool_->finish(std::current_exception());
    }
  }

  Fetch fetch_;
  std::unique_ptr<Spool> spool_;
  int64_t bytes_read_ = 0;
  std::thread thread_;  // last: it uses the others
};

// The address' hash, so that two servers' files do not meet, and its name, so that one can look.
std::string cache_path(const WebFile& file, const RemoteSettings& settings) {
  std::string name = file_name(file.url.substr(0, file.url.find_first_of("?#")));
  for (char& c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    if (!is_plain) c = '_';
  }
  if (name.size() > 100) name.erase(0, name.size() - 100);
  const uint64_t hash = XXH3_64bits(file.url.data(), file.url.size());
  return join_path(settings.cache_folder, fmt::format("{:016x}-{}", hash, name));
}

}  // namespace

std::unique_ptr<ByteStream> open_web_stream(const WebFile& file, const RemoteSettings& settings) {
  if (settings.cache_folder.empty()) {
    return std::make_unique<WebStream>(file, settings, memory_spool());
  }
  if (const std::string path = cached_path(file, settings); !path.empty()) {
    return open_byte_stream(*posix_storage(), path);
  }
  return std::make_unique<WebStream>(file, settings, file_spool(cache_path(file, settings), file));
}

std::string cached_path(const WebFile& file, const RemoteSettings& settings) {
  if (settings.cache_folder.empty()) return "";
  std::string path = cache_path(file, settings);
  return std::filesystem::exists(path) ? path : "";
}

std::string fetch_to_cache(const WebFile& file, const RemoteSettings& settings,
                           const FetchProgress& progress) {
  check(!settings.cache_folder.empty(), ErrorCode::Usage,
        "{}: a parquet file is not read front to back: name a cache folder for it", file.address);
  const std::string path = cache_path(file, settings);
  if (!std::filesystem::exists(path)) {
    WebStream(file, settings, file_spool(path, file)).wait_until_finished(progress);
  }
  return path;
}

}  // namespace ingot
