// HTTP messages as they lie in web archives.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot {

// "Name: value" lines; names are compared without regard to case.
class HeaderFields {
 public:
  void add(std::string_view line);
  std::string get(std::string_view name) const;  // the first of that name; empty: there is none

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct HttpMessage {
  int status = 0;
  HeaderFields header;
  std::string_view body;  // into what was parsed; as transferred
};
inline constexpr size_t kMaxHeaderLines = 1000;  // so that no message takes more memory than bytes
// False where `bytes` do not begin with a status line, or have more header lines than that.
bool parse_http_response(std::string_view bytes, HttpMessage& message);

enum class BodyOutcome { Decoded, TooLarge, UnknownEncoding, Damaged };
// The body without chunks and compression. An archive may have stored it decoded and left the
// header as it was, so a body that is not in chunks, or not compressed, is taken as it is.
BodyOutcome decode_body(const HttpMessage& message, size_t max_bytes, std::string& body);

struct ContentType {
  std::string media, charset;  // lower case: "text/html", "utf-8"
};
ContentType parse_content_type(std::string_view value);

}  // namespace ingot
