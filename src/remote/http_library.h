// The interface of the module libingot_http.so, the only code that links libcurl. It is loaded when
// the first http(s):// or hf:// address is opened, so that the program also runs without it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

inline constexpr char kHttpModule[] = "libingot_http.so";
inline constexpr char kHttpFunction[] = "ingot_http_library";

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  int64_t offset = 0;                // above 0: requests only the bytes from here on
  int64_t stall_seconds = 30;        // without an answer or a byte: the transfer is broken
  const std::atomic<bool>* cancelled = nullptr;  // once true, the transfer is aborted soon
};

// The result, after redirects.
struct HttpReply {
  int status = 0;      // 0: no answer
  std::string broken;  // why the transfer is incomplete; empty: it is complete
  std::string etag, link;
  int64_t offset = 0;        // position in the file of the body's first byte
  int64_t total_bytes = -1;  // of the file, -1 if unknown
  int64_t retry_after_seconds = -1;
};

// Receives the body in pieces, with the reply as known so far; does not throw. False aborts the
// transfer.
using HttpSink = std::function<bool(const HttpReply& head, std::string_view piece)>;

class HttpLibrary {
 public:
  virtual ~HttpLibrary() = default;
  // Thread-safe. One attempt.
  virtual HttpReply get(const HttpRequest& request, const HttpSink& sink) = 0;
};
using HttpFunction = HttpLibrary*();

}  // namespace ingot
