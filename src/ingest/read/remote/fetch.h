// A file over HTTP, every byte once and in order, however often the transfer breaks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/read/document_reader.h"
#include "ingest/read/remote/http_library.h"

namespace ingot {

struct WebFile {
  std::string address;  // for messages: what the user named
  std::string url;
  std::vector<std::string> headers;  // of requests: "Authorization: Bearer …"
};

// Which version of the file it is, as far as the server told.
struct WebVersion {
  std::string etag;
  int64_t total_bytes = -1;
};

// Where the bytes go. Called by the fetching thread; may block, and may throw to end the transfer.
class FetchSink {
 public:
  virtual ~FetchSink() = default;
  // Before the first byte that each attempt brings: they, and what was written, are of this one.
  virtual void version(const WebVersion& version) = 0;
  virtual void write(std::string_view bytes) = 0;
  // The file is another one than what was written so far: forget that. False: too late.
  virtual bool restart() = 0;
};

class Fetch {
 public:
  Fetch(WebFile file, RemoteSettings settings)
      : file_(std::move(file)), settings_(std::move(settings)) {}

  // The file from byte `offset` on; what lies before is of the `known` version. Broken transfers
  // and busy servers (408, 429, 5xx) are tried again, later each time, from where they broke, until
  // settings.max_attempts brought no byte more. Returns false where cancel() was called. Throws
  // ErrorCode::Data where the server has no such file or another one by now, ErrorCode::Storage
  // where it cannot be reached.
  bool run(int64_t offset, WebVersion known, FetchSink& sink);

  void cancel();
  const std::string& link() const { return link_; }  // the Link header that came last

 private:
  enum class Attempt { Done, Again, Stopped };
  Attempt attempt(FetchSink& sink);
  bool accept(const HttpReply& head, FetchSink& sink);
  void refuse(const HttpReply& reply) const;
  bool wait(int64_t attempts_made);

  WebFile file_;
  RemoteSettings settings_;
  WebVersion version_;
  int64_t position_ = 0;  // of the next byte that the sink needs
  std::string last_failure_, link_;
  int64_t retry_after_seconds_ = -1;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

// The file's ETag, of one request that ends with its head; empty where the server has none or does
// not answer.
std::string fetch_etag(const WebFile& file, const RemoteSettings& settings);

// The whole of a small file. `link`, where given, is set to its Link header.
std::string fetch_text(const WebFile& file, const RemoteSettings& settings,
                       std::string* link = nullptr);

}  // namespace ingot
