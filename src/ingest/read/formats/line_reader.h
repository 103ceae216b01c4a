// Reads lines of a stream with a bounded buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/read/byte_stream.h"

namespace ingot {

enum class LineOutcome { Line, TooLong, End };

class LineReader {
 public:
  // Skips a byte order mark at the beginning. Buffers at most max_line_bytes.
  LineReader(ByteStream& stream, size_t max_line_bytes);

  // Line: sets `line`, without its line feed, valid until the next call. TooLong: the line was
  // skipped.
  LineOutcome next(std::string_view& line);

  // The next `size` bytes, whatever they are; false, and fewer bytes, if the stream ends before.
  bool read(size_t size, std::string& into);
  bool skip(int64_t size);

 private:
  bool fill();  // false at the end of the stream
  void skip_line();

  ByteStream& stream_;
  size_t max_line_bytes_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // the unread part of the buffer
  bool at_start_ = true;
};

}  // namespace ingot
