#include "infer/text_stream.h"

#include <algorithm>
#include <utility>

#include "core/text/utf8.h"

namespace ingot {
namespace {

// The next piece of `bytes`: `length` bytes that are a character, or the longest beginning of one
// that is broken off, which becomes one U+FFFD, as the Unicode standard recommends.
struct Piece {
  size_t length;
  enum { Character, Broken, Incomplete } kind;
};

Piece next_piece(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {1, Piece::Character};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {1, Piece::Broken};
  // The second byte's range excludes overlong forms, surrogates and what is beyond U+10FFFF.
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < length; ++i) {
    if (i == bytes.size()) return {i, Piece::Incomplete};
    const bool fits = i == 1 ? low <= at(i) && at(i) <= high : (at(i) & 0xC0) == 0x80;
    if (!fits) return {i, Piece::Broken};
  }
  return {length, Piece::Character};
}

// Moves what is certain from `bytes` to the end of `text`; at the end everything is.
void decode_into(std::string& bytes, std::string& text, bool at_end) {
  size_t done = 0;
  while (done < bytes.size()) {
    const Piece piece = next_piece(std::string_view(bytes).substr(done));
    if (piece.kind == Piece::Incomplete && !at_end) break;
    text += piece.kind == Piece::Character ? std::string_view(bytes).substr(done, piece.length)
                                           : text::kReplacementCharacter;
    done += piece.length;
  }
  bytes.erase(0, done);
}

// The longest end of `text` that `stop` begins with.
size_t overlap(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n)
    if (text.ends_with(stop.substr(0, n))) return n;
  return 0;
}

}  // namespace

TextStream::TextStream(const Tokenizer& tokenizer, std::vector<std::string> stop_strings,
                       int32_t first_id)
    : tokenizer_(tokenizer), stops_(std::move(stop_strings)), first_id_(first_id) {
  std::erase(stops_, "");
}

std::string TextStream::add(int32_t id) {
  if (is_stopped()) return "";
  // The first piece after BOS may lose a leading space; the others stand as they are.
  bytes_ += first_id_ >= 0 ? tokenizer_.decode(std::vector{first_id_, id}) : tokenizer_.decode(id);
  first_id_ = -1;
  decode_into(bytes_, text_, false);
  return certain(false);
}

std::string TextStream::finish() {
  if (is_stopped()) return "";
  decode_into(bytes_, text_, true);
  return certain(true);
}

std::string TextStream::certain(bool at_end) {
  size_t first = std::string::npos;
  for (const std::string& stop : stops_)
    if (const size_t at = text_.find(stop); at < first) {
      first = at;
      stopped_by_ = stop;
    }
  size_t withheld = 0;
  if (first == std::string::npos && !at_end)
    for (const std::string& stop : stops_) withheld = std::max(withheld, overlap(text_, stop));
  const size_t length = first != std::string::npos ? first : text_.size() - withheld;
  std::string out = text_.substr(0, length);
  text_.erase(0, is_stopped() ? text_.size() : length);
  return out;
}

}  // namespace ingot
