// Splits a JSON array into the texts of its elements.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/read/byte_stream.h"
#include "ingest/read/formats/line_reader.h"

namespace ingot {

// Splits at the outermost commas; the caller parses the elements. Holds one element at a time, and
// at most max_element_bytes of it.
class JsonArraySplitter {
 public:
  // `stream` begins with whitespace and '['. `name`: for messages.
  JsonArraySplitter(ByteStream& stream, size_t max_element_bytes, std::string name);

  // As LineReader::next(). Throws ErrorCode::Data if the array is not closed, or something follows
  // it.
  LineOutcome next(std::string_view& element);

 private:
  bool take(char& byte);
  [[noreturn]] void fail(const std::string& what) const;
  void check_end();

  ByteStream& stream_;
  size_t max_element_bytes_;
  std::string name_;
  std::vector<char> chunk_;
  size_t at_ = 0, end_ = 0;
  std::string element_;
  bool begun_ = false, after_comma_ = false, ended_ = false;
};

// A stream with look-ahead: reads `inner` from its beginning again.
class PeekedStream final : public ByteStream {
 public:
  explicit PeekedStream(std::unique_ptr<ByteStream> inner);
  // The look-ahead, some thousand bytes, without a byte order mark and leading whitespace.
  std::string_view head() const;
  size_t read(char* into, size_t size) override;
  int64_t bytes_read() const override { return inner_->bytes_read(); }
  InputContent content() override { return inner_->content(); }

 private:
  std::unique_ptr<ByteStream> inner_;
  std::string head_;
  size_t given_ = 0;  // of head_
};

}  // namespace ingot
