// HTML on arbitrary bytes: the text of valid UTF-8 is valid UTF-8, and no longer than the longest
// that references can make it. Input: one byte that chooses a character set, then the page.
#include <array>
#include <cstdlib>

#include "core/text/utf8.h"
#include "ingest/read/charset.h"
#include "ingest/read/formats/html_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const std::array<std::string, 8> charsets{"utf-8",  "windows-1252", "gb2312", "shift_jis",
                                                   "euc-kr", "big5",         "euc-jp", "utf-16le"};
  const std::string_view page(reinterpret_cast<const char*>(data + 1), size - 1);
  std::string decoded, text;
  if (!ingot::decode_charset(charsets[data[0] % charsets.size()], page, decoded)) return 0;
  if (ingot::valid_utf8_prefix(decoded) != decoded.size()) abort();
  ingot::html_to_text(decoded, text);
  if (ingot::valid_utf8_prefix(text) != text.size()) abort();
  if (text.size() > 2 * decoded.size()) abort();
  ingot::decode_charset(ingot::find_charset("", page, true), page, decoded);
  return 0;
}
