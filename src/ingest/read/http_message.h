// Parses HTTP messages stored in web archives.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot {

// "Name: value" lines; names are case-insensitive.
class HeaderFields {
 public:
  void add(std::string_view line);
  std::string get(std::string_view name) const;  // the first with that name; empty: none

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct HttpMessage {
  int status = 0;
  HeaderFields header;
  std::string_view body;  // a view of the parsed bytes; as transferred
};
inline constexpr size_t kMaxHeaderLines = 1000;  // bounds the memory of a message
// False if `bytes` do not begin with a status line, or have too many header lines.
bool parse_http_response(std::string_view bytes, HttpMessage& message);

enum class BodyOutcome { Decoded, TooLarge, UnknownEncoding, Damaged };
// Removes chunked encoding and compression from the body. An archive may have stored the decoded
// body with the original header, so a body that is not chunked, or not compressed, is accepted
// unchanged.
BodyOutcome decode_body(const HttpMessage& message, size_t max_bytes, std::string& body);

struct ContentType {
  std::string media, charset;  // lower case: "text/html", "utf-8"
};
ContentType parse_content_type(std::string_view value);

}  // namespace ingot
