#include "tokenizer/unicode/nfc.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "core/error.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace {

size_t ascii_run(std::string_view text, size_t at) {
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

void append_normalized(std::string_view text, std::string& out) {
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, std::free);
  check(size >= 0, ErrorCode::Internal, "NFC of {} bytes: {}", text.size(), utf8proc_errmsg(size));
  out.append(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
}

// A mark of the library's Unicode that the table, which keeps to Unicode 9 here as Hugging Face
// tokenizers does, lets stay where it is: the library must not see it.
bool stays(const Character& c) {
  return (c.classes & kMark) != 0 &&
         utf8proc_get_property(static_cast<utf8proc_int32_t>(c.code_point))->combining_class != 0;
}

}  // namespace

// A character without the flag kNfc does not change and joins nothing before it. So the text falls
// into stretches that begin with one and go on over flagged ones, each normalised by itself.
std::string_view to_nfc(std::string_view text, std::string& storage) {
  bool changed = false;
  size_t copied = 0;        // text up to here is in storage, once something changed
  size_t stretch = 0;       // where the last character without the flag begins
  bool in_stretch = false;  // a flagged character followed it
  const auto end_stretch = [&](size_t end) {
    if (!in_stretch) return;
    if (!changed) storage.clear();
    changed = true;
    storage.append(text, copied, stretch - copied);
    append_normalized(text.substr(stretch, end - stretch), storage);
    copied = end;
    in_stretch = false;
  };
  for (size_t at = 0; at < text.size();) {
    if (!in_stretch) {
      const size_t end = ascii_run(text, at);
      if (end > at) stretch = end - 1;
      at = end;
      if (at == text.size()) break;
    }
    const Character c = first_character(text.substr(at));
    const bool invalid = c.size == 1 && static_cast<uint8_t>(text[at]) >= 0x80;
    if (c.classes & kNfc) {
      in_stretch = true;
    } else {
      end_stretch(at);
      stretch = invalid || stays(c) ? at + c.size : at;
    }
    at += c.size;
  }
  end_stretch(text.size());
  if (!changed) return text;
  storage.append(text, copied);
  return storage;
}

std::string_view nfc_unicode_version() {
  return utf8proc_unicode_version();
}

}  // namespace ingot
