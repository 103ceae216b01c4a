#include "ingest/read/record_reader.h"

#include "core/text/utf8.h"

namespace ingot {

namespace {

// Every CR before LF goes, so that doing it twice changes nothing.
void make_line_ends_lf(std::string& text) {
  const size_t first = text.find("\r\n");
  if (first == std::string::npos) return;
  size_t to = first;
  for (size_t from = first; from < text.size(); ++from) {
    if (text[from] == '\n') {
      while (to > 0 && text[to - 1] == '\r') --to;
    }
    text[to++] = text[from];
  }
  text.resize(to);
}

}  // namespace

bool RecordReader::next(Document& document) {
  for (;; ++num_records_) {
    document.text.clear();
    document.id.clear();
    document.url.clear();
    document.language.clear();
    const Outcome outcome = read_record(document);
    if (outcome == Outcome::End) return false;
    if (outcome == Outcome::Skipped) continue;
    if (!settings_.keep_crlf) make_line_ends_lf(document.text);
    if (!keep(document)) continue;
    document.source = settings_.source;
    if (document.id.empty()) document.id = file_.name + ":" + std::to_string(num_records_);
    counts_.documents += 1;
    counts_.bytes += static_cast<int64_t>(document.text.size());
    ++num_records_;
    return true;
  }
}

bool RecordReader::keep(Document& document) {
  if (document.text.empty()) {
    skip("empty");
  } else if (document.text.size() > max_document_bytes()) {
    skip("too_large");
  } else if (valid_utf8_prefix(document.text) != document.text.size()) {
    skip("invalid_utf8");
  } else {
    // An address that is no text is worth less than the document.
    if (valid_utf8_prefix(document.url) != document.url.size()) document.url.clear();
    if (valid_utf8_prefix(document.id) != document.id.size()) document.id.clear();
    return true;
  }
  return false;
}

RecordReader::Outcome RecordReader::skip(const std::string& reason) {
  counts_.skip(reason, {file_.name, num_records_});
  return Outcome::Skipped;
}

}  // namespace ingot
