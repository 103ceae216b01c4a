#include "ingest/read/formats/csv_records.h"

#include <algorithm>
#include <cstring>

#include "core/error/error.h"

namespace ingot {
namespace {

constexpr size_t kChunkBytes = size_t{64} << 10;

}  // namespace

CsvRecords::CsvRecords(ByteStream& stream, char separator, std::string name)
    : stream_(stream), separator_(separator), name_(std::move(name)), chunk_(kChunkBytes) {}

bool CsvRecords::fill() {
  if (at_ < end_) return true;
  at_ = 0;
  end_ = stream_.read(chunk_.data(), chunk_.size());
  return end_ > 0;
}

// What lies between `begin` and at_.
void CsvRecords::append(std::string* field, size_t begin) {
  if (field == nullptr) return;
  const size_t room = max_field_bytes_ - std::min(max_field_bytes_, field->size());
  record_->too_large |= at_ - begin > room;
  field->append(chunk_.data() + begin, std::min(at_ - begin, room));
}

char CsvRecords::plain_field(std::string* field) {
  char last = '\0';
  while (fill()) {
    const size_t begin = at_;
    while (at_ < end_ && chunk_[at_] != separator_ && chunk_[at_] != '\n') ++at_;
    if (at_ > begin) {
      blank_ &= at_ == begin + 1 && chunk_[begin] == '\r';
      last = chunk_[at_ - 1];
      append(field, begin);
    }
    if (at_ == end_) continue;
    const char ended_by = chunk_[at_++];
    const bool crlf = ended_by == '\n' && last == '\r';
    if (crlf && field != nullptr && field->ends_with('\r')) field->pop_back();
    return ended_by;
  }
  return '\0';
}

// After the opening quote.
char CsvRecords::quoted_field(std::string* field) {
  const int64_t opened_on = line_;
  for (;;) {
    check(fill(), ErrorCode::Data,
          "{}: the file ends within quotes that were opened on line {}; it was cut short, or a "
          "quote is not doubled",
          name_, opened_on + 1);
    const size_t begin = at_;
    const auto* quote = static_cast<const char*>(std::memchr(chunk_.data() + at_, '"', end_ - at_));
    at_ = quote != nullptr ? static_cast<size_t>(quote - chunk_.data()) : end_;
    line_ += std::count(chunk_.data() + begin, chunk_.data() + at_, '\n');
    append(field, begin);
    if (quote == nullptr) continue;
    ++at_;
    if (!fill()) return '\0';
    if (chunk_[at_] != '"') break;
    const size_t second = at_++;  // a doubled quote is one
    append(field, second);
  }
  // Only the line's end or a separator may follow.
  std::string rest;
  const char ended_by = plain_field(&rest);
  record_->malformed |= !rest.empty();
  return ended_by;
}

bool CsvRecords::next(CsvRecord& record, const Keep& keep, size_t max_field_bytes) {
  max_field_bytes_ = max_field_bytes;
  record_ = &record;
  while (fill()) {
    record = {};
    blank_ = true;
    for (char ended_by = separator_; ended_by == separator_;) {
      std::string* const field = keep(record.num_fields++);
      if (field != nullptr) field->clear();
      if (fill() && chunk_[at_] == '"') {
        ++at_;
        blank_ = false;
        ended_by = quoted_field(field);
      } else {
        ended_by = plain_field(field);
      }
      blank_ &= ended_by != separator_;
    }
    ++line_;
    if (!blank_) return true;
  }
  return false;
}

}  // namespace ingot
