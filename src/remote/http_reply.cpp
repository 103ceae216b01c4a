#include "remote/http_reply.h"

#include <charconv>

#include "core/text/ascii.h"

namespace ingot {
namespace {

// -1 for anything but digits.
int64_t number(std::string_view text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= 0 ? value : -1;
}

}  // namespace

void read_header_line(std::string_view line, HttpReply& reply) {
  if (line.starts_with("HTTP/")) {
    reply = {};
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return;
    if (const int64_t status = number(line.substr(space + 1, 3)); status > 0)
      reply.status = static_cast<int>(status);
    return;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string name = lower_case(trimmed(line.substr(0, colon)));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "etag") reply.etag = value;
  if (name == "link") reply.link = value;
  if (name == "retry-after") reply.retry_after_seconds = number(value);
  if (name == "content-length" && reply.status == 200) reply.total_bytes = number(value);
  if (name == "content-range" && value.starts_with("bytes ")) {  // bytes 5-9/10, bytes */10
    const std::string_view range = value.substr(6);
    const size_t dash = range.find('-'), slash = range.find('/');
    if (dash != std::string_view::npos) reply.offset = number(range.substr(0, dash));
    if (slash != std::string_view::npos) reply.total_bytes = number(range.substr(slash + 1));
  }
}

}  // namespace ingot
