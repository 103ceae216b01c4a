// Fetches a file over HTTP, every byte once and in order, with retries.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "remote/http_library.h"
#include "remote/remote_settings.h"

namespace ingot {

struct WebFile {
  std::string address;  // for messages: as the user named it
  std::string url;
  std::vector<std::string> headers;  // of the requests: "Authorization: Bearer …"
};

// The version of the file, as far as the server reports it.
struct WebVersion {
  std::string etag;
  int64_t total_bytes = -1;
};

// The consumer of a transfer. Called on the fetching thread; may block, and may throw to abort.
class FetchSink {
 public:
  virtual ~FetchSink() = default;
  // Called before the first byte of each attempt: its bytes, and those written before, have this
  // version.
  virtual void version(const WebVersion& version) = 0;
  virtual void write(std::string_view bytes) = 0;
  // The file has changed since the bytes written so far: discard them. False: too late.
  virtual bool restart() = 0;
};

class Fetch {
 public:
  Fetch(WebFile file, RemoteSettings settings)
      : file_(std::move(file)), settings_(std::move(settings)) {}

  // Fetches the file from byte `offset` on; the bytes before have version `known`. Retries broken
  // transfers and busy servers (408, 429, 5xx) from where they broke, with growing delays, until
  // settings.max_attempts brought no more bytes. Returns false after cancel(). Throws
  // ErrorCode::Data if the server does not have the file or has another version now,
  // ErrorCode::Storage if it cannot be reached.
  bool run(int64_t offset, WebVersion known, FetchSink& sink);

  void cancel();
  const std::string& link() const { return link_; }  // the last Link header

 private:
  enum class Attempt { Done, Again, Stopped };
  Attempt attempt(FetchSink& sink);
  bool accept(const HttpReply& head, FetchSink& sink);
  void refuse(const HttpReply& reply) const;
  bool wait(int64_t attempts_made);

  WebFile file_;
  RemoteSettings settings_;
  WebVersion version_;
  int64_t position_ = 0;  // the next byte for the sink
  std::string last_failure_, link_;
  int64_t retry_after_seconds_ = -1;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

// The file's ETag, from one request that stops after the header; empty if the server has none or
// does not answer.
std::string fetch_etag(const WebFile& file, const RemoteSettings& settings);

// A small file as a whole. `link`, if not null, is set to its Link header.
std::string fetch_text(const WebFile& file, const RemoteSettings& settings,
                       std::string* link = nullptr);

}  // namespace ingot
