#include "tokenizer/unicode/nfc.h"

#include <utf8proc.h>

#include "core/text/utf8.h"
#include "tokenizer/unicode/unicode_classes.h"
#include "tokenizer/unicode/utf8proc_map.h"

namespace ingot {
namespace {

// A mark of the library's Unicode that the table, which keeps to Unicode 9 here as Hugging Face
// tokenizers does, lets stay where it is: the library must not see it.
bool stays(const Character& c) {
  return (c.classes & kMark) != 0 &&
         utf8proc_get_property(static_cast<utf8proc_int32_t>(c.code_point))->combining_class != 0;
}

}  // namespace

// A character without the flag kNfc does not change and joins nothing before it. So the text is
// divided into stretches that begin with such a character and continue over flagged ones, each
// normalised by itself.
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
    append_mapped(text.substr(stretch, end - stretch), UTF8PROC_STABLE | UTF8PROC_COMPOSE, storage);
    copied = end;
    in_stretch = false;
  };
  for (size_t at = 0; at < text.size();) {
    if (!in_stretch) {
      const size_t end = text::ascii_end(text, at);
      if (end > at) stretch = end - 1;
      at = end;
      if (at == text.size()) break;
    }
    const Character c = first_character(text.substr(at));
    if (c.classes & kNfc) {
      in_stretch = true;
    } else {
      end_stretch(at);
      stretch = text::is_invalid(c) || stays(c) ? at + c.size : at;
    }
    at += c.size;
  }
  end_stretch(text.size());
  if (!changed) return text;
  storage.append(text, copied);
  return storage;
}

}  // namespace ingot
