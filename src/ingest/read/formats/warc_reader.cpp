#include <algorithm>
#include <charconv>

#include "core/error/error.h"
#include "ingest/read/charset.h"
#include "ingest/read/formats/html_text.h"
#include "ingest/read/formats/line_reader.h"
#include "ingest/read/http_message.h"
#include "ingest/read/record_reader.h"

namespace ingot {
namespace {

constexpr size_t kMaxHeaderLineBytes = size_t{1} << 20;

std::string_view without_brackets(std::string_view text) {
  if (text.starts_with('<') && text.ends_with('>')) return text.substr(1, text.size() - 2);
  return text;
}

// Pages of a web archive (WARC 1.0 and 1.1): HTTP responses, resources and conversions (the text
// files of Common Crawl, "WET") of type HTML or plain text.
class WarcReader final : public RecordReader {
 public:
  WarcReader(const InputFile& file, const ReadSettings& settings)
      : RecordReader(file, settings),
        stream_(open_stream(file, settings)),
        input_(*stream_, kMaxHeaderLineBytes) {}

  int64_t bytes_read() const override { return stream_->bytes_read(); }
  InputContent content() override { return stream_->content(); }

 private:
  Outcome read_record(Document& document) override {
    HeaderFields header;
    if (!read_header(header)) return Outcome::End;
    const std::string type = header.get("WARC-Type");
    const int64_t size = content_length(header);
    const std::string url(without_brackets(header.get("WARC-Target-URI")));
    // Crawlers store their own logs as resources, under addresses of another kind.
    const bool is_page = type == "response" || type == "conversion" ||
                         (type == "resource" && url.starts_with("http"));
    const bool is_too_large = size > settings().max_document_bytes;
    if (!is_page || is_too_large) {
      if (!input_.skip(size)) fail("ends within a record");
      return skip(is_page ? "too_large" : "not_a_page");
    }
    if (!input_.read(static_cast<size_t>(size), block_)) fail("ends within a record");
    document.id = without_brackets(header.get("WARC-Record-ID"));
    document.url = url;
    return type == "response" ? response(document)
                              : content(header.get("Content-Type"), block_, document);
  }

  // The lines up to an empty one. False at the end of the file.
  bool read_header(HeaderFields& header) {
    std::string_view line;
    do {  // two empty lines end a record
      const LineOutcome outcome = input_.next(line);
      if (outcome == LineOutcome::End) return false;
      if (outcome == LineOutcome::TooLong) fail("has a line that is too long for a header");
      if (line.ends_with('\r')) line.remove_suffix(1);
    } while (line.empty());
    if (!line.starts_with("WARC/1.")) {
      fail(fmt::format("has no record where one must begin: expected «WARC/1.…», got «{}»",
                       printable(line)));
    }
    for (size_t i = 0; i < kMaxHeaderLines; ++i) {
      if (input_.next(line) != LineOutcome::Line) fail("ends within a record's header");
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) return true;
      header.add(line);
    }
    fail("has a record's header without end");
  }

  int64_t content_length(const HeaderFields& header) const {
    const std::string text = header.get("Content-Length");
    int64_t size = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc{} || end != text.data() + text.size() || size < 0) {
      fail(fmt::format("has a record whose Content-Length is «{}»", printable(text)));
    }
    return size;
  }

  Outcome response(Document& document) {
    HttpMessage message;
    if (!parse_http_response(block_, message)) return skip("invalid_http");
    if (message.status != 200) return skip("http_status");
    const BodyOutcome outcome = decode_body(message, max_document_bytes(), body_);
    if (outcome == BodyOutcome::TooLarge) return skip("too_large");
    if (outcome == BodyOutcome::UnknownEncoding) return skip("unknown_encoding");
    if (outcome == BodyOutcome::Damaged) return skip("invalid_http");
    return content(message.header.get("Content-Type"), body_, document);
  }

  Outcome content(const std::string& content_type, std::string_view bytes, Document& document) {
    const ContentType type = parse_content_type(content_type);
    const bool is_html = type.media == "text/html" || type.media == "application/xhtml+xml";
    if (!is_html && type.media != "text/plain") return skip("not_text");
    const std::string charset = find_charset(type.charset, bytes, is_html);
    if (!decode_charset(charset, bytes, decoded_)) return skip("unknown_charset");
    if (is_html) {
      html_to_text(decoded_, document.text);
    } else {
      document.text = decoded_;
    }
    return Outcome::Document;
  }

  static std::string printable(std::string_view text) {
    std::string shown(text.substr(0, 40));
    for (char& c : shown) {
      if (c < ' ' || c > '~') c = '?';
    }
    return shown;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::Data,
                fmt::format("{}: the web archive {} (before byte {} as stored); it is damaged or "
                            "was cut short",
                            file().location, what, stream_->bytes_read()));
  }

  std::unique_ptr<ByteStream> stream_;
  LineReader input_;
  std::string block_, body_, decoded_;
};

}  // namespace

std::unique_ptr<DocumentReader> read_warc(const InputFile& file, const ReadSettings& settings) {
  return std::make_unique<WarcReader>(file, settings);
}

}  // namespace ingot
