#include "tokenizer/same_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include "core/error/error.h"
#include "core/text/printable.h"

namespace ingot {
namespace {

// Empty where the id is special, unused or beyond the vocabulary.
std::string text_of(const Tokenizer& tokenizer, int64_t id) {
  try {
    return id < tokenizer.vocab_size() ? tokenizer.decode(static_cast<int32_t>(id)) : "";
  } catch (const Error&) {
    return "";
  }
}

// Nothing where the tokenizer refuses the text.
std::optional<std::vector<int32_t>> ids_of(const Tokenizer& tokenizer, const std::string& text) {
  try {
    return tokenizer.encode(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string in_quotes(const std::string& text) {
  if (text.empty()) return "no text";
  constexpr size_t kMost = 40;
  return fmt::format("«{}{}»", printable(text.substr(0, kMost)), text.size() > kMost ? "…" : "");
}

std::string with_other_ids(const Tokenizer& was, const Tokenizer& is, const std::string& text) {
  const auto before = ids_of(was, text), now = ids_of(is, text);
  if (before == now) return "";
  const auto count = [](const auto& ids) {
    return ids ? fmt::format("{} ids", ids->size()) : std::string("refused");
  };
  return fmt::format("{} has other ids: {} there, {} here", in_quotes(text), count(before),
                     count(now));
}

// What patterns cut differently: numbers, contractions, runs of spaces, line ends, scripts.
constexpr std::string_view kSample =
    "It's 1234567 o'clock, they'LL say;  HTTPServer2 isn't\tready...\r\n\r\n   x = foo(bar[0]) "
    "// naïve café\n Größe 東京は  日本 Привет мир 🙂🙂 1,000.50\n";

// A step through so many pieces that comes by all of them, so that each stands beside others than
// its neighbours by number.
size_t stride_over(size_t count) {
  size_t stride = count * 618 / 1000 | 1;
  while (std::gcd(stride, count) != 1) stride += 2;
  return stride;
}

// Which of two joins that want the same byte comes first is seen where pieces overlap.
class PiecesByFirstByte {
 public:
  explicit PiecesByFirstByte(const std::vector<std::string>& pieces) {
    for (const std::string& piece : pieces)
      if (piece.size() > 1) rests_[static_cast<unsigned char>(piece[0])].push_back(piece.substr(1));
  }
  // What a piece that begins with the last byte of this one has besides; `turn` chooses among them.
  std::string rest_after(const std::string& piece, size_t turn) const {
    if (piece.empty()) return "";
    const auto& rests = rests_[static_cast<unsigned char>(piece.back())];
    return rests.empty() ? "" : rests[turn % rests.size()];
  }

 private:
  std::array<std::vector<std::string>, 256> rests_;
};

}  // namespace

std::string id_difference(const Tokenizer& was, const Tokenizer& is) {
  const int64_t ids = std::max(was.vocab_size(), is.vocab_size());
  std::vector<std::string> pieces(static_cast<size_t>(ids));
  for (int64_t id = 0; id < ids; ++id) {
    std::string& piece = pieces[static_cast<size_t>(id)];
    piece = text_of(was, id);
    const std::string now = text_of(is, id);
    if (piece != now)
      return fmt::format("id {} is {} there and {} here", id, in_quotes(piece), in_quotes(now));
  }
  if (std::string found = with_other_ids(was, is, std::string(kSample)); !found.empty())
    return found;
  const PiecesByFirstByte by_first_byte(pieces);
  const size_t stride = stride_over(pieces.size());
  constexpr size_t kPiecesOfText = 32;
  for (size_t first = 0; first < pieces.size(); first += kPiecesOfText) {
    std::string text, overlapping;
    for (size_t i = first; i < std::min(pieces.size(), first + kPiecesOfText); ++i) {
      text += pieces[i * stride % pieces.size()];
      overlapping += pieces[i] + by_first_byte.rest_after(pieces[i], i) + ' ';
    }
    for (const std::string& one : {text, overlapping})
      if (std::string found = with_other_ids(was, is, one); !found.empty()) return found;
  }
  return "";
}

}  // namespace ingot
