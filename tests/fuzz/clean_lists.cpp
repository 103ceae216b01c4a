// Lists that cleaning is given, arbitrary: URL lists, public suffixes, bad words, Punkt's files.
// They are taken or refused with Error; what is taken filters. Input: one byte that says how many
// parts are lists, the parts with zero bytes between, the last of them a text and a URL.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "ingest/clean/filters/bad_words.h"
#include "ingest/clean/filters/url.h"
#include "ingest/clean/splitters/punkt.h"

namespace {

using namespace ingot;

void split_sentences(const PunktFiles& files, std::string_view text) {
  const Punkt punkt(files);
  std::vector<Punkt::Span> spans;
  punkt.sentences(text, spans);
  size_t end = 0;
  for (const Punkt::Span& span : spans) {
    if (span.begin < end || span.end < span.begin || span.end > text.size()) abort();
    end = span.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::vector<std::string> parts(1);
  for (size_t i = 1; i < size; ++i) {
    if (data[i] == 0) {
      parts.emplace_back();
    } else {
      parts.back() += static_cast<char>(data[i]);
    }
  }
  const std::string text = parts.back();
  parts.resize(6);
  if (valid_utf8_prefix(text) != text.size()) return 0;  // readers give nothing else
  for (const std::string& part : parts) {
    if (valid_utf8_prefix(part) != part.size()) return 0;
  }
  try {
    if (data[0] & 1) {
      split_sentences({parts[0], parts[1], parts[2], parts[3]}, text);
    } else {
      UrlFilter(2, {parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]}).filter(text);
      const std::string host = host_of(text);
      const std::string_view domain = PublicSuffixes(parts[5]).registered_domain(host);
      if (!host.ends_with(domain)) abort();
    }
    BadWordsSettings bad_words;
    bad_words.whole_words = (data[0] & 2) != 0;
    std::string lowered;
    BadWords(bad_words, parts[0]).filter("id", text, lowered);
  } catch (const Error&) {
  }
  return 0;
}
