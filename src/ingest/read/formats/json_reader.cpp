#include <array>

#include "core/error/error.h"
#include "ingest/read/formats/json_array.h"
#include "ingest/read/formats/json_record.h"
#include "ingest/read/formats/line_reader.h"
#include "ingest/read/record_reader.h"
#include "ingest/read/text_field.h"

namespace ingot {
namespace {

// Escapes make a character up to six bytes, and a record holds more than its text: a record may be
// this much longer than a document before it is passed over unread.
constexpr size_t kRecordPerTextBytes = 4;
constexpr size_t kOtherFieldsBytes = size_t{1} << 20;
constexpr std::string_view kSpaces = " \t\r\n";

template <class Splitter>
class JsonReader final : public RecordReader {
 public:
  JsonReader(const InputFile& file, const ReadSettings& settings,
             std::unique_ptr<ByteStream> stream, Splitter splitter)
      : RecordReader(file, settings), stream_(std::move(stream)), records_(std::move(splitter)) {
    fields_[kText].name = this->settings().text_field;
    fields_[kId].name = this->settings().id_field;
    fields_[kUrl].name = this->settings().url_field;
  }

  int64_t bytes_read() const override { return stream_->bytes_read(); }
  InputContent content() override { return stream_->content(); }
  std::set<std::string> string_fields() const override { return watch_.string_fields(); }

 private:
  Outcome read_record(Document& document) override {
    std::string_view line;
    do {
      const LineOutcome outcome = records_.next(line);
      if (outcome == LineOutcome::End) return Outcome::End;
      if (outcome == LineOutcome::TooLong) return skip("too_large");
    } while (line.find_first_not_of(kSpaces) == std::string_view::npos);
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
      case JsonOutcome::RepeatedMember:  // which of them is meant, the file does not say
        return skip("repeated_field");
      case JsonOutcome::Record:
        break;
    }
    using Kind = JsonField::Kind;
    const Kind text = fields_[kText].kind;
    if (text != Kind::String) {
      watch_.on_record_without_text(line, settings().text_field, file().location);
      return skip(text == Kind::Absent || text == Kind::Null ? "no_text" : "not_a_string");
    }
    watch_.on_text();
    if (fields_[kUrl].kind != Kind::String) document.url.clear();
    return Outcome::Document;
  }

  enum { kText, kId, kUrl };
  std::unique_ptr<ByteStream> stream_;
  Splitter records_;
  std::array<JsonField, 3> fields_;
  TextFieldWatch watch_;
};

// Whether a file that begins so is one array of records. Of a .jsonl file a first record that is an
// array of something else is no record, and what follows it is read.
bool is_array(std::string_view head, const std::string& kind) {
  if (!head.starts_with('[')) return false;
  const size_t next = head.find_first_not_of(kSpaces, 1);
  return kind == ".json" || (next != std::string_view::npos && head[next] == '{');
}

// Of records that take several lines every line would be left out.
void check_first_line(std::string_view head, const InputFile& file) {
  const size_t end = head.find('\n');
  if (!head.starts_with('{') || end == std::string_view::npos) return;
  const size_t last = head.find_last_not_of(kSpaces, end);
  check(head[last] != '{' && head[last] != '[' && head[last] != ',', ErrorCode::Data,
        "{}: its first record takes several lines: expected one record a line, or an array of "
        "them; jq -c . FILE > NEW.jsonl writes one a line",
        file.location);
}

}  // namespace

std::unique_ptr<DocumentReader> read_json(const InputFile& file, const ReadSettings& settings) {
  const size_t max_record_bytes =
      static_cast<size_t>(settings.max_document_bytes) * kRecordPerTextBytes + kOtherFieldsBytes;
  auto stream = std::make_unique<PeekedStream>(open_stream(file, settings));
  if (is_array(stream->head(), file_kind(file.name).kind)) {
    JsonArraySplitter splitter(*stream, max_record_bytes, file.location);
    return std::make_unique<JsonReader<JsonArraySplitter>>(file, settings, std::move(stream),
                                                           std::move(splitter));
  }
  check_first_line(stream->head(), file);
  LineReader splitter(*stream, max_record_bytes);
  return std::make_unique<JsonReader<LineReader>>(file, settings, std::move(stream),
                                                  std::move(splitter));
}

}  // namespace ingot
