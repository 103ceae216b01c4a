#include "net/http_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace ingot::net {
namespace {

constexpr size_t kChunkLineBytes = 1024;  // a chunk's size, with extensions

bool is_token_character(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_character);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class Number>
bool reads_number(std::string_view text, int base, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned code = 0;
    if (i + 2 >= text.size() || !reads_number(text.substr(i + 1, 2), 16, code)) return std::nullopt;
    out += static_cast<char>(code);
    i += 2;
  }
  return out;
}

}  // namespace

const std::string* HttpRequest::header(std::string_view lower_name) const {
  for (const auto& [name, value] : headers)
    if (name == lower_name) return &value;
  return nullptr;
}

void RequestParser::fail(int status, std::string message) {
  state_ = State::Bad;
  problem_ = {status, std::move(message)};
}

size_t RequestParser::feed(std::string_view bytes) {
  size_t used = 0;
  while (used < bytes.size() && state_ != State::Complete && state_ != State::Bad) {
    const std::string_view rest = bytes.substr(used);
    if (state_ == State::Head) {
      used += feed_line(rest, limits_.header_bytes);
    } else if (state_ == State::Body || state_ == State::Chunk) {
      const size_t count = std::min(left_, rest.size());
      request_.body.append(rest.substr(0, count));
      used += count;
      left_ -= count;
      if (left_ == 0) state_ = state_ == State::Body ? State::Complete : State::ChunkEnd;
    } else {
      used += feed_line(rest, kChunkLineBytes);
    }
  }
  return used;
}

// Up to a line's end; of the head, up to its empty line.
size_t RequestParser::feed_line(std::string_view bytes, size_t most) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    buffer_ += bytes[i];
    if (buffer_.size() > most) {
      const bool head = state_ == State::Head;
      fail(head ? 431 : 400,
           head ? fmt::format("request line and headers: expected at most {} bytes", most)
                : "a chunk of the body: expected its size");
      return i + 1;
    }
    if (bytes[i] != '\n') continue;
    if (state_ != State::Head) {
      end_line(std::exchange(buffer_, {}));
      return i + 1;
    }
    if (buffer_ == "\r\n" || buffer_ == "\n") {  // allowed before a request
      buffer_.clear();
    } else if (buffer_.ends_with("\r\n\r\n") || buffer_.ends_with("\n\n")) {
      end_head(std::exchange(buffer_, {}));
      return i + 1;
    }
  }
  return bytes.size();
}

void RequestParser::end_line(std::string line) {
  line.pop_back();
  if (line.ends_with('\r')) line.pop_back();
  if (state_ == State::ChunkSize) return parse_chunk_size(line);
  if (state_ == State::ChunkEnd) {
    if (!line.empty()) return fail(400, "a chunk of the body is longer than its size says");
    state_ = State::ChunkSize;
    return;
  }
  trailer_bytes_ += line.size();
  if (trailer_bytes_ > limits_.header_bytes) return fail(431, "too many trailers");
  if (line.empty()) state_ = State::Complete;
}

void RequestParser::parse_chunk_size(std::string_view line) {
  const std::string_view digits = trimmed(line.substr(0, line.find(';')));
  size_t size = 0;
  if (digits.size() > 15 || !reads_number(digits, 16, size))
    return fail(400, "a chunk of the body: expected its size in hexadecimal");
  if (size > limits_.body_bytes - request_.body.size())
    return fail(413, fmt::format("body: expected at most {} bytes", limits_.body_bytes));
  left_ = size;
  state_ = size == 0 ? State::Trailer : State::Chunk;
}

void RequestParser::end_head(std::string_view head) {
  bool first = true;
  while (!head.empty()) {
    const size_t end = head.find('\n');
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) break;
    if (!(std::exchange(first, false) ? parse_request_line(line) : parse_header(line))) return;
  }
  find_body();
}

bool RequestParser::parse_request_line(std::string_view line) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  const auto bad = [&](int status, std::string message) {
    fail(status, std::move(message));
    return false;
  };
  if (first == std::string_view::npos || first == last || !is_token(line.substr(0, first)))
    return bad(400, "expected a request such as «GET / HTTP/1.1»");
  const std::string_view version = line.substr(last + 1);
  if (!version.starts_with("HTTP/")) return bad(400, "expected a request such as «GET / HTTP/1.1»");
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return bad(505, "expected HTTP/1.1 or HTTP/1.0");
  request_.method = line.substr(0, first);
  request_.keep_alive = request_.takes_chunks = version == "HTTP/1.1";
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const bool has_controls =
      std::ranges::any_of(target, [](char c) { return c == ' ' || (c > 0 && c < 32) || c == 127; });
  if (!target.starts_with('/') || has_controls)
    return bad(400, "expected a path that begins with «/»");
  const size_t mark = target.find('?');
  const auto path = percent_decoded(target.substr(0, mark));
  if (!path) return bad(400, "the path: expected two hexadecimal digits after %");
  request_.path = *path;
  if (mark != std::string_view::npos) request_.query = target.substr(mark + 1);
  return true;
}

bool RequestParser::parse_header(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    fail(400, "headers: expected «Name: value»");
    return false;
  }
  const std::string_view value = trimmed(line.substr(colon + 1));
  const bool has_controls = std::ranges::any_of(
      value, [](char c) { return (c >= 0 && c < 32 && c != '\t') || c == 127; });
  if (has_controls) {
    fail(400, "headers: a value with control characters");
    return false;
  }
  if (request_.headers.size() >= limits_.num_headers) {
    fail(431, fmt::format("headers: expected at most {}", limits_.num_headers));
    return false;
  }
  request_.headers.emplace_back(lower(line.substr(0, colon)), value);
  return true;
}

// Two ways of telling where a body ends are an attack on what stands between.
void RequestParser::find_body() {
  const auto count = [&](std::string_view name) {
    return std::ranges::count(request_.headers, name, [](const auto& h) { return h.first; });
  };
  if (count("host") > 1) return fail(400, "headers: Host is there twice");
  const std::string* length = request_.header("content-length");
  const std::string* coding = request_.header("transfer-encoding");
  if (count("content-length") + count("transfer-encoding") > 1)
    return fail(400, "headers: expected one of Content-Length and Transfer-Encoding, once");
  if (const std::string* connection = request_.header("connection")) {
    const std::string options = lower(*connection);
    if (options.find("close") != std::string::npos) request_.keep_alive = false;
    if (options.find("keep-alive") != std::string::npos) request_.keep_alive = true;
  }
  if (const std::string* expect = request_.header("expect"))
    expects_continue_ = lower(*expect) == "100-continue";
  if (coding != nullptr) {
    if (lower(*coding) != "chunked")
      return fail(501, "Transfer-Encoding: only chunked is understood");
    state_ = State::ChunkSize;
    return;
  }
  if (length != nullptr && (length->size() > 18 || !reads_number(*length, 10, left_)))
    return fail(400, "Content-Length: expected a number of bytes");
  if (left_ > limits_.body_bytes)
    return fail(413,
                fmt::format("body: expected at most {} bytes, got {}", limits_.body_bytes, left_));
  state_ = left_ == 0 ? State::Complete : State::Body;
  if (left_ == 0) expects_continue_ = false;
}

HttpRequest RequestParser::take() {
  HttpRequest request = std::move(request_);
  *this = RequestParser(limits_);
  return request;
}

}  // namespace ingot::net
