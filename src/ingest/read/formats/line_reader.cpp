#include "ingest/read/formats/line_reader.h"

#include <algorithm>
#include <cstring>

namespace ingot {
namespace {

constexpr size_t kFirstBufferBytes = size_t{64} << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

LineReader::LineReader(ByteStream& stream, size_t max_line_bytes)
    : stream_(stream),
      max_line_bytes_(max_line_bytes),
      buffer_(std::min(kFirstBufferBytes, max_line_bytes + 1)) {}

bool LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    buffer_.resize(std::min(buffer_.size() * 2, max_line_bytes_ + 1));
  }
  const size_t count = stream_.read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += count;
  if (at_start_ && (end_ >= kByteOrderMark.size() || count == 0)) {
    at_start_ = false;
    if (std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
      begin_ = kByteOrderMark.size();
    }
  }
  return count > 0;
}

bool LineReader::read(size_t size, std::string& into) {
  into.clear();
  while (into.size() < size) {
    if (begin_ == end_ && !fill()) return false;
    const size_t count = std::min(size - into.size(), end_ - begin_);
    into.append(buffer_.data() + begin_, count);
    begin_ += count;
  }
  return true;
}

bool LineReader::skip(int64_t size) {
  while (size > 0) {
    if (begin_ == end_ && !fill()) return false;
    const auto count = std::min(size, static_cast<int64_t>(end_ - begin_));
    begin_ += static_cast<size_t>(count);
    size -= count;
  }
  return true;
}

void LineReader::skip_line() {
  do {
    const auto* end =
        static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', end_ - begin_));
    if (end != nullptr) {
      begin_ = static_cast<size_t>(end - buffer_.data()) + 1;
      return;
    }
    begin_ = end_;
  } while (fill());
}

LineOutcome LineReader::next(std::string_view& line) {
  size_t searched = 0;  // bytes after begin_ that hold no line feed
  for (;;) {
    const auto* end = static_cast<const char*>(
        std::memchr(buffer_.data() + begin_ + searched, '\n', end_ - begin_ - searched));
    if (end != nullptr) {
      const auto at = static_cast<size_t>(end - buffer_.data());
      line = std::string_view(buffer_.data() + begin_, at - begin_);
      begin_ = at + 1;
      return LineOutcome::Line;
    }
    searched = end_ - begin_;
    if (searched > max_line_bytes_) {
      skip_line();
      return LineOutcome::TooLong;
    }
    const bool started = at_start_;
    const bool more = fill();
    if (started && !at_start_) searched = 0;  // the byte order mark went
    if (!more) {
      if (begin_ == end_) return LineOutcome::End;
      line = std::string_view(buffer_.data() + begin_, end_ - begin_);
      begin_ = end_;
      return LineOutcome::Line;
    }
  }
}

}  // namespace ingot
