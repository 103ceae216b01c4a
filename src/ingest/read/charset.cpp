#include "ingest/read/charset.h"

#include <iconv.h>

#include <cerrno>
#include <utility>

#include "core/text/ascii.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kUtf16BeMark = "\xFE\xFF", kUtf16LeMark = "\xFF\xFE";
const iconv_t kNoConverter = reinterpret_cast<iconv_t>(-1);
constexpr size_t kMetaBytes = 4096;  // browsers look at 1,024; pages that put it later are common

// The HTML standard's labels that are in use, and iconv's name for what browsers decode them as:
// often a larger set than the label says. Others are not handed to iconv, which knows many more.
constexpr std::pair<std::string_view, std::string_view> kCharsets[] = {
    {"utf-8", "UTF-8"},
    {"utf8", "UTF-8"},
    {"utf-16", "UTF-16LE"},
    {"utf-16le", "UTF-16LE"},
    {"utf-16be", "UTF-16BE"},
    {"ascii", "WINDOWS-1252"},
    {"us-ascii", "WINDOWS-1252"},
    {"latin1", "WINDOWS-1252"},
    {"latin-1", "WINDOWS-1252"},
    {"iso8859-1", "WINDOWS-1252"},
    {"iso-8859-1", "WINDOWS-1252"},
    {"iso_8859-1", "WINDOWS-1252"},
    {"windows-1252", "WINDOWS-1252"},
    {"cp1252", "WINDOWS-1252"},
    {"iso-8859-2", "ISO-8859-2"},
    {"iso-8859-3", "ISO-8859-3"},
    {"iso-8859-4", "ISO-8859-4"},
    {"iso-8859-5", "ISO-8859-5"},
    {"iso-8859-6", "ISO-8859-6"},
    {"iso-8859-7", "ISO-8859-7"},
    {"iso-8859-8", "ISO-8859-8"},
    {"iso-8859-9", "WINDOWS-1254"},
    {"iso-8859-10", "ISO-8859-10"},
    {"iso-8859-11", "CP874"},
    {"iso-8859-13", "ISO-8859-13"},
    {"iso-8859-14", "ISO-8859-14"},
    {"iso-8859-15", "ISO-8859-15"},
    {"iso-8859-16", "ISO-8859-16"},
    {"windows-1250", "WINDOWS-1250"},
    {"windows-1251", "WINDOWS-1251"},
    {"cp1251", "WINDOWS-1251"},
    {"windows-1253", "WINDOWS-1253"},
    {"windows-1254", "WINDOWS-1254"},
    {"windows-1255", "WINDOWS-1255"},
    {"windows-1256", "WINDOWS-1256"},
    {"windows-1257", "WINDOWS-1257"},
    {"windows-1258", "WINDOWS-1258"},
    {"windows-874", "CP874"},
    {"tis-620", "CP874"},
    {"koi8-r", "KOI8-R"},
    {"koi8-u", "KOI8-U"},
    {"ibm866", "CP866"},
    {"macintosh", "MACINTOSH"},
    {"gb2312", "GB18030"},
    {"gbk", "GB18030"},
    {"gb18030", "GB18030"},
    {"big5", "BIG5-HKSCS"},
    {"big5-hkscs", "BIG5-HKSCS"},
    {"shift_jis", "CP932"},
    {"shift-jis", "CP932"},
    {"x-sjis", "CP932"},
    {"sjis", "CP932"},
    {"windows-31j", "CP932"},
    {"euc-jp", "EUC-JP"},
    {"iso-2022-jp", "ISO-2022-JP"},
    {"euc-kr", "CP949"},
    {"ks_c_5601-1987", "CP949"},
};

// Empty: not known.
std::string iconv_name(std::string_view label) {
  for (const auto& [known, name] : kCharsets) {
    if (known == label) return std::string(name);
  }
  return "";
}

// The charset of <meta charset=…> or <meta … content="…; charset=…">, empty where there is none.
std::string meta_charset(std::string_view html) {
  const std::string head = lower_case(html.substr(0, kMetaBytes));
  for (size_t meta = head.find("<meta"); meta != std::string::npos;
       meta = head.find("<meta", meta + 1)) {
    const std::string_view tag = std::string_view(head).substr(meta, head.find('>', meta) - meta);
    size_t at = tag.find("charset");
    if (at == std::string_view::npos) continue;
    at = tag.find_first_not_of(" \t\r\n", at + 7);
    if (at == std::string_view::npos || tag[at] != '=') continue;
    at = tag.find_first_not_of(" \t\r\n\"'", at + 1);
    if (at == std::string_view::npos) continue;
    std::string label(tag.substr(at, tag.find_first_of(" \t\r\n\"';/>", at) - at));
    // A page that says in ASCII that it is UTF-16 is not.
    return label.starts_with("utf-16") ? "utf-8" : label;
  }
  return "";
}

void repair_utf8(std::string_view bytes, std::string& out) {
  out.clear();
  while (!bytes.empty()) {
    const size_t valid = valid_utf8_prefix(bytes);
    out.append(bytes, 0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    out += kReplacement;
    bytes.remove_prefix(1);
    // The rest of the broken character belongs to the same mark.
    while (!bytes.empty() && text::is_continuation(bytes[0])) bytes.remove_prefix(1);
  }
}

}  // namespace

std::string find_charset(std::string_view declared, std::string_view bytes, bool is_html) {
  if (bytes.starts_with(kUtf8Mark)) return "utf-8";
  if (bytes.starts_with(kUtf16BeMark)) return "utf-16be";
  if (bytes.starts_with(kUtf16LeMark)) return "utf-16le";
  std::string label(declared);
  if (label.empty() && is_html) label = meta_charset(bytes);
  if (!label.empty()) return lower_case(trimmed(label));
  return valid_utf8_prefix(bytes) == bytes.size() ? "utf-8" : "windows-1252";
}

bool decode_charset(const std::string& charset, std::string_view bytes, std::string& out) {
  out.clear();
  for (const std::string_view mark : {kUtf8Mark, kUtf16BeMark, kUtf16LeMark}) {
    if (bytes.starts_with(mark)) {
      bytes.remove_prefix(mark.size());
      break;
    }
  }
  const std::string name = iconv_name(charset);
  if (name == "UTF-8") {
    repair_utf8(bytes, out);
    return true;
  }
  const iconv_t converter = name.empty() ? kNoConverter : iconv_open("UTF-8", name.c_str());
  if (converter == kNoConverter) return false;
  char* in = const_cast<char*>(bytes.data());
  size_t left = bytes.size();
  while (left > 0) {
    char chunk[4096];
    char* to = chunk;
    size_t room = sizeof(chunk);
    const size_t result = iconv(converter, &in, &left, &to, &room);
    const int why = errno;
    out.append(chunk, sizeof(chunk) - room);
    if (result != static_cast<size_t>(-1) || why == E2BIG) continue;
    out += kReplacement;
    in += 1;
    left -= 1;
    iconv(converter, nullptr, nullptr, nullptr, nullptr);
  }
  iconv_close(converter);
  return true;
}

}  // namespace ingot
