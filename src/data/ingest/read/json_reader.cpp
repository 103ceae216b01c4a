#include <array>

#include "data/ingest/read/json_record.h"
#include "data/ingest/read/line_reader.h"
#include "data/ingest/read/record_reader.h"

namespace ingot {
namespace {

// Escapes make a character up to six bytes, and a record holds more than its text: a record may be
// this much longer than a document before it is passed over unread.
constexpr size_t kRecordPerTextBytes = 4;
constexpr size_t kOtherFieldsBytes = size_t{1} << 20;

class JsonLinesReader final : public RecordReader {
 public:
  JsonLinesReader(const InputFile& file, const ReadSettings& settings)
      : RecordReader(file, settings),
        stream_(open_stream(file, settings)),
        lines_(*stream_, max_document_bytes() * kRecordPerTextBytes + kOtherFieldsBytes) {
    fields_[kText].name = this->settings().text_field;
    fields_[kId].name = this->settings().id_field;
    fields_[kUrl].name = this->settings().url_field;
  }

  int64_t bytes_read() const override { return stream_->bytes_read(); }

 private:
  Outcome read_record(Document& document) override {
    std::string_view line;
    do {
      const LineOutcome outcome = lines_.next(line);
      if (outcome == LineOutcome::End) return Outcome::End;
      if (outcome == LineOutcome::TooLong) return skip("too_large");
    } while (line.find_first_not_of(" \t\r") == std::string_view::npos);
    return parse(line, document);
  }

  Outcome parse(std::string_view line, Document& document) {
    // The document's strings, with what they have allocated, lend themselves to the parser.
    fields_[kText].value.swap(document.text);
    fields_[kId].value.swap(document.id);
    fields_[kUrl].value.swap(document.url);
    const JsonOutcome outcome = parse_json_record(line, fields_);
    fields_[kText].value.swap(document.text);
    fields_[kId].value.swap(document.id);
    fields_[kUrl].value.swap(document.url);
    switch (outcome) {
      case JsonOutcome::InvalidUtf8:
        return skip("invalid_utf8");
      case JsonOutcome::InvalidJson:
        return skip("invalid_json");
      case JsonOutcome::NotAnObject:
        return skip("not_an_object");
      case JsonOutcome::Record:
        break;
    }
    using Kind = JsonField::Kind;
    const Kind text = fields_[kText].kind;
    if (text == Kind::Absent || text == Kind::Null) return skip("no_text");
    if (text != Kind::String) return skip("not_a_string");
    if (fields_[kUrl].kind != Kind::String) document.url.clear();
    return Outcome::Document;
  }

  enum { kText, kId, kUrl };
  std::unique_ptr<ByteStream> stream_;
  LineReader lines_;
  std::array<JsonField, 3> fields_;
};

}  // namespace

std::unique_ptr<DocumentReader> read_json(const InputFile& file, const ReadSettings& settings) {
  return std::make_unique<JsonLinesReader>(file, settings);
}

}  // namespace ingot
