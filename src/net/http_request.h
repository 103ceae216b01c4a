// An HTTP/1.0 or 1.1 request, parsed from the bytes of a connection within limits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot::net {

struct HttpLimits {
  size_t header_bytes = size_t{16} << 10;  // request line and headers together
  size_t num_headers = 100;
  size_t body_bytes = size_t{8} << 20;
};

struct HttpRequest {
  std::string method;
  std::string path;                                          // without the query, %XX resolved
  std::string query;                                         // after «?», as it was sent
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  bool keep_alive = true;
  bool takes_chunks = true;  // HTTP/1.1

  const std::string* header(std::string_view lower_name) const;  // the first; null: none
};

// Why a request is refused, and the status of the reply.
struct HttpProblem {
  int status = 0;  // 0: none
  std::string message = {};
};

class RequestParser {
 public:
  explicit RequestParser(const HttpLimits& limits) : limits_(limits) {}

  // Takes bytes until the request is complete or cannot be read, and returns how many. Bytes after
  // a complete request belong to the next one.
  size_t feed(std::string_view bytes);
  bool is_complete() const { return state_ == State::Complete; }
  bool has_begun() const { return state_ != State::Head || !buffer_.empty(); }
  const HttpProblem& problem() const { return problem_; }
  // True once if the client waits for permission to send its body («Expect: 100-continue»).
  bool take_expectation() { return std::exchange(expects_continue_, false); }
  // The complete request; the parser begins anew.
  HttpRequest take();

 private:
  enum class State { Head, Body, ChunkSize, Chunk, ChunkEnd, Trailer, Complete, Bad };

  size_t feed_line(std::string_view bytes, size_t most);
  void end_line(std::string line);
  void fail(int status, std::string message);
  void end_head(std::string_view head);
  bool parse_request_line(std::string_view line);
  bool parse_header(std::string_view line);
  void find_body();
  void parse_chunk_size(std::string_view line);

  HttpLimits limits_;
  State state_ = State::Head;
  HttpProblem problem_;
  HttpRequest request_;
  std::string buffer_;  // the head, or a line, so far
  size_t left_ = 0;     // of the body or the chunk
  size_t trailer_bytes_ = 0;
  bool expects_continue_ = false;
};

}  // namespace ingot::net
