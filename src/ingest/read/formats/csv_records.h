// Delimiter-separated records as in RFC 4180: quoted fields may contain separators, line ends and
// doubled quotes; lines end in LF or CRLF; empty lines are not records.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "ingest/read/byte_stream.h"

namespace ingot {

struct CsvRecord {
  size_t num_fields = 0;
  bool too_large = false;  // a kept field exceeds the limit and was cut
  bool malformed = false;  // text between a closing quote and the separator
};

class CsvRecords {
 public:
  // `name`: for messages.
  CsvRecords(ByteStream& stream, char separator, std::string name);

  // Where to store a column's field; null: skip it. Skipped columns take no memory.
  using Keep = std::function<std::string*(size_t column)>;
  // False at the end. Throws ErrorCode::Data if the file ends within quotes.
  bool next(CsvRecord& record, const Keep& keep, size_t max_field_bytes);

 private:
  bool fill();  // false at the end of the stream
  // Each returns the byte that ended the field: the separator, '\n', or '\0' at the end of the
  // file.
  char plain_field(std::string* field);
  char quoted_field(std::string* field);
  void append(std::string* field, size_t begin);

  ByteStream& stream_;
  char separator_;
  std::string name_;
  std::vector<char> chunk_;
  size_t at_ = 0, end_ = 0;  // the unread part of the chunk
  int64_t line_ = 0;         // for messages
  size_t max_field_bytes_ = 0;
  CsvRecord* record_ = nullptr;
  bool blank_ = true;
};

}  // namespace ingot
