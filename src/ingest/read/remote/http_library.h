// What the module libingot_http.so offers: the only code that links libcurl. It is loaded when the
// first http(s):// or hf:// address is opened, so that the program starts without it.
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
  int64_t offset = 0;                // where above 0, only the bytes from here on are asked for
  int64_t stall_seconds = 30;        // without an answer or a byte: broken
  const std::atomic<bool>* cancelled = nullptr;  // once true, the transfer ends soon
};

// What came, redirects followed.
struct HttpReply {
  int status = 0;      // 0: no answer
  std::string broken;  // why the transfer is not whole; empty: it is
  std::string etag, link;
  int64_t offset = 0;        // in the file, of the body's first byte
  int64_t total_bytes = -1;  // of the file, -1 where not told
  int64_t retry_after_seconds = -1;
};

// Gets the body piece by piece, with the reply as known by then; does not throw. False ends the
// transfer.
using HttpSink = std::function<bool(const HttpReply& head, std::string_view piece)>;

class HttpLibrary {
 public:
  virtual ~HttpLibrary() = default;
  // Thread-safe. Tries once.
  virtual HttpReply get(const HttpRequest& request, const HttpSink& sink) = 0;
};
using HttpFunction = HttpLibrary*();

}  // namespace ingot
