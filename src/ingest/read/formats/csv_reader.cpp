#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error/error.h"
#include "ingest/read/formats/csv_records.h"
#include "ingest/read/record_reader.h"

namespace ingot {
namespace {

constexpr size_t kMaxNameBytes = 4096, kMaxColumns = 10'000;
constexpr size_t kNoColumn = static_cast<size_t>(-1);
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

class CsvReader final : public RecordReader {
 public:
  CsvReader(const InputFile& file, const ReadSettings& settings, char separator)
      : RecordReader(file, settings),
        stream_(open_stream(file, settings)),
        records_(*stream_, separator, file.location) {
    read_header();
  }

  int64_t bytes_read() const override { return stream_->bytes_read(); }
  InputContent content() override { return stream_->content(); }

 private:
  void read_header() {
    std::vector<std::string> names;
    CsvRecord header;
    const bool any = records_.next(
        header,
        [&](size_t column) {
          check(column < kMaxColumns, ErrorCode::Data,
                "{}: the first line has more than {} columns; is this a table with their names?",
                this->file().location, kMaxColumns);
          names.resize(column + 1);
          return &names.back();
        },
        kMaxNameBytes);
    check(any, ErrorCode::Data, "{}: expected a line with the columns' names, got an empty file",
          file().location);
    if (names[0].starts_with(kByteOrderMark)) names[0].erase(0, kByteOrderMark.size());
    num_columns_ = names.size();
    const auto column_of = [&](const std::string& name) {
      const auto found = std::find(names.begin(), names.end(), name);
      check(std::count(names.begin(), names.end(), name) < 2, ErrorCode::Data,
            "{}: the first line names {} columns «{}»: which is meant? Give them different names",
            file().location, std::count(names.begin(), names.end(), name), name);
      return found == names.end() ? kNoColumn : static_cast<size_t>(found - names.begin());
    };
    text_ = column_of(settings().text_field);
    id_ = column_of(settings().id_field);
    url_ = column_of(settings().url_field);
    names.resize(std::min<size_t>(names.size(), 20));
    std::string known;
    for (const auto& name : names) known += " «" + name.substr(0, 40) + "»";
    check(text_ != kNoColumn, ErrorCode::Data,
          "{}: no column «{}» for the text; the first line names the columns, and it has{}",
          file().location, settings().text_field, known);
  }

  Outcome read_record(Document& document) override {
    const auto keep = [&](size_t column) {
      return column == text_  ? &document.text
             : column == id_  ? &document.id
             : column == url_ ? &document.url
                              : nullptr;
    };
    CsvRecord record;
    if (!records_.next(record, keep, max_document_bytes())) return Outcome::End;
    if (record.malformed) return skip("invalid_csv");
    if (record.num_fields != num_columns_) return skip("wrong_columns");
    if (record.too_large) return skip("too_large");
    return Outcome::Document;
  }

  std::unique_ptr<ByteStream> stream_;
  CsvRecords records_;
  size_t num_columns_ = 0, text_ = kNoColumn, id_ = kNoColumn, url_ = kNoColumn;
};

}  // namespace

std::unique_ptr<DocumentReader> read_csv(const InputFile& file, const ReadSettings& settings) {
  const char separator = file_kind(file.name).kind == ".tsv" ? '\t' : ',';
  return std::make_unique<CsvReader>(file, settings, separator);
}

}  // namespace ingot
