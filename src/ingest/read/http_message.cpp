#include "ingest/read/http_message.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>

#include "core/text/ascii.h"

namespace ingot {
namespace {

// Takes one line off `rest`, without its end.
std::string_view take_line(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// False where `body` is not in chunks from beginning to end.
bool join_chunks(std::string_view body, std::string& out) {
  out.clear();
  for (;;) {
    std::string_view line = take_line(body);
    line = trimmed(line.substr(0, line.find(';')));
    size_t size = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    if (error != std::errc{} || end != line.data() + line.size()) return false;
    if (size == 0) return true;
    if (size > body.size()) return false;
    out.append(body, 0, size);
    body.remove_prefix(size);
    if (!take_line(body).empty()) return false;
  }
}

// gzip, zlib or, as some servers send for "deflate", a bare deflate stream.
BodyOutcome inflate_body(std::string_view body, size_t max_bytes, std::string& out) {
  constexpr int kDetect = 32, kBare = -1;
  for (const int window : {MAX_WBITS + kDetect, kBare * MAX_WBITS}) {
    out.clear();
    z_stream state{};
    if (inflateInit2(&state, window) != Z_OK) return BodyOutcome::Damaged;
    state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
    state.avail_in = static_cast<uInt>(body.size());
    int result = Z_OK;
    while (result == Z_OK && out.size() <= max_bytes) {
      char chunk[16384];
      state.next_out = reinterpret_cast<Bytef*>(chunk);
      state.avail_out = sizeof(chunk);
      result = inflate(&state, Z_NO_FLUSH);
      out.append(chunk, sizeof(chunk) - state.avail_out);
    }
    inflateEnd(&state);
    if (out.size() > max_bytes) return BodyOutcome::TooLarge;
    if (result == Z_STREAM_END) return BodyOutcome::Decoded;
  }
  return BodyOutcome::Damaged;
}

}  // namespace

void HeaderFields::add(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  fields_.emplace_back(lower_case(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
}

std::string HeaderFields::get(std::string_view name) const {
  const std::string wanted = lower_case(name);
  for (const auto& [field, value] : fields_) {
    if (field == wanted) return value;
  }
  return "";
}

bool parse_http_response(std::string_view bytes, HttpMessage& message) {
  std::string_view rest = bytes;
  const std::string_view status_line = take_line(rest);
  const size_t space = status_line.find(' ');
  if (!status_line.starts_with("HTTP/") || space == std::string_view::npos) return false;
  const std::string_view status = trimmed(status_line.substr(space));
  std::from_chars(status.data(), status.data() + status.size(), message.status);
  for (size_t i = 0; !rest.empty(); ++i) {
    const std::string_view line = take_line(rest);
    if (line.empty()) break;
    if (i == kMaxHeaderLines) return false;
    message.header.add(line);
  }
  message.body = rest;
  return true;
}

BodyOutcome decode_body(const HttpMessage& message, size_t max_bytes, std::string& body) {
  std::string joined;
  std::string_view bytes = message.body;
  if (lower_case(message.header.get("Transfer-Encoding")) == "chunked" &&
      join_chunks(bytes, joined)) {
    bytes = joined;
  }
  const std::string encoding = lower_case(message.header.get("Content-Encoding"));
  if (encoding == "gzip" || encoding == "x-gzip" || encoding == "deflate") {
    const BodyOutcome outcome = inflate_body(bytes, max_bytes, body);
    const bool was_compressed = bytes.starts_with("\x1f\x8b");
    if (outcome != BodyOutcome::Damaged || was_compressed) return outcome;
  } else if (!encoding.empty() && encoding != "identity") {
    return BodyOutcome::UnknownEncoding;
  }
  body = bytes;
  return BodyOutcome::Decoded;
}

ContentType parse_content_type(std::string_view value) {
  ContentType type;
  const size_t end = std::min(value.find(';'), value.size());
  type.media = lower_case(trimmed(value.substr(0, end)));
  const std::string parameters = lower_case(value.substr(end));
  const size_t charset = parameters.find("charset=");
  if (charset == std::string::npos) return type;
  std::string_view label = std::string_view(parameters).substr(charset + 8);
  label = trimmed(label.substr(0, label.find(';')));
  while (!label.empty() && (label.front() == '"' || label.front() == '\'')) label.remove_prefix(1);
  while (!label.empty() && (label.back() == '"' || label.back() == '\'')) label.remove_suffix(1);
  type.charset = label;
  return type;
}

}  // namespace ingot
