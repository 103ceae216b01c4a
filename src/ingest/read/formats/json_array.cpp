#include "ingest/read/formats/json_array.h"

#include <algorithm>
#include <cstring>

#include "core/error/error.h"

namespace ingot {
namespace {

constexpr size_t kChunkBytes = size_t{64} << 10;
constexpr size_t kHeadBytes = 4096;
constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_space(char byte) {
  return kSpaces.find(byte) != std::string_view::npos;
}

}  // namespace

JsonArraySplitter::JsonArraySplitter(ByteStream& stream, size_t max_element_bytes, std::string name)
    : stream_(stream),
      max_element_bytes_(max_element_bytes),
      name_(std::move(name)),
      chunk_(kChunkBytes) {}

bool JsonArraySplitter::take(char& byte) {
  if (at_ == end_) {
    at_ = 0;
    end_ = stream_.read(chunk_.data(), chunk_.size());
    if (end_ == 0) return false;
  }
  byte = chunk_[at_++];
  return true;
}

void JsonArraySplitter::fail(const std::string& what) const {
  throw Error(ErrorCode::Data,
              fmt::format("{}: the JSON array {} (before byte {} as stored); is it cut short, or "
                          "are there several? Expected one array, or one record a line",
                          name_, what, stream_.bytes_read()));
}

void JsonArraySplitter::check_end() {
  for (char byte; take(byte);) {
    if (!is_space(byte)) fail("is followed by something");
  }
}

LineOutcome JsonArraySplitter::next(std::string_view& element) {
  char byte = 0;
  while (!begun_ && take(byte)) begun_ = byte == '[';
  if (ended_) return LineOutcome::End;

  element_.clear();
  bool too_long = false, any = false, in_string = false, escaped = false;
  for (int64_t depth = 0;;) {
    if (!take(byte)) fail("does not end");
    if (in_string) {
      if (escaped) {
        escaped = false;
      } else if (byte == '\\') {
        escaped = true;
      } else {
        in_string = byte != '"';
      }
    } else if (depth == 0 && (byte == ',' || byte == ']')) {
      ended_ = byte == ']';
      break;
    } else if (byte == '"') {
      in_string = true;
    } else if (byte == '[' || byte == '{') {
      ++depth;
    } else if ((byte == ']' || byte == '}') && depth > 0) {
      --depth;
    }
    any |= !is_space(byte);
    if (element_.size() < max_element_bytes_) {
      element_ += byte;
    } else {
      too_long = true;
    }
  }
  if (ended_) {
    check_end();
    if (!any && !after_comma_) return LineOutcome::End;
  }
  after_comma_ = true;
  element = element_;
  return too_long ? LineOutcome::TooLong : LineOutcome::Line;
}

PeekedStream::PeekedStream(std::unique_ptr<ByteStream> inner) : inner_(std::move(inner)) {
  head_.resize(kHeadBytes);
  size_t size = 0;
  for (size_t count = 1; count > 0 && size < head_.size(); size += count) {
    count = inner_->read(head_.data() + size, head_.size() - size);
  }
  head_.resize(size);
  if (head_.starts_with(kByteOrderMark)) given_ = kByteOrderMark.size();
}

std::string_view PeekedStream::head() const {
  std::string_view rest = head_;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  return rest.substr(std::min(rest.size(), rest.find_first_not_of(kSpaces)));
}

size_t PeekedStream::read(char* into, size_t size) {
  if (given_ == head_.size()) return inner_->read(into, size);
  const size_t count = std::min(size, head_.size() - given_);
  std::memcpy(into, head_.data() + given_, count);
  given_ += count;
  return count;
}

}  // namespace ingot
