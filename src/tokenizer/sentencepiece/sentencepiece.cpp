#include "tokenizer/sentencepiece/sentencepiece.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/prompt_encoder.h"
#include "tokenizer/sentencepiece/byte_pieces.h"
#include "tokenizer/sentencepiece/encoder.h"
#include "tokenizer/sentencepiece/normalizer.h"

namespace ingot {
namespace {

std::string surface(const SentencePieceModel::Piece& piece, const std::string& unknown) {
  switch (piece.type) {
    case PieceType::Control:
      return {};
    case PieceType::Unknown:
      return unknown;
    case PieceType::Byte:
      return {static_cast<char>(*byte_of_piece(piece.text))};
    default:
      return with_spaces(piece.text);
  }
}

class SentencePieceTokenizer final : public Tokenizer, public PromptEncoder {
 public:
  SentencePieceTokenizer(std::string_view file, SentencePieceModel model, std::string_view origin)
      : file_(file), model_(std::move(model)), encoder_(model_, origin) {
    if (!model_.denormalizer.charsmap.empty()) {
      denormalizer_.emplace(model_.denormalizer, false, std::vector<std::string_view>{}, origin);
    }
    std::vector<std::pair<std::string_view, int32_t>> controls;
    for (const auto& piece : model_.pieces) {
      const auto id = static_cast<int32_t>(surfaces_.size());
      surfaces_.push_back(surface(piece, model_.unknown_surface));
      if (piece.type == PieceType::Control) controls.emplace_back(piece.text, id);
    }
    controls_ = DoubleArray(std::move(controls));
  }

  using Tokenizer::encode;

  int64_t vocab_size() const override { return static_cast<int64_t>(model_.pieces.size()); }
  int32_t bos() const override { return model_.bos; }
  int32_t eos() const override { return model_.eos; }
  std::string kind() const override { return "sentencepiece"; }
  std::string serialize() const override { return file_; }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    const auto yes = [](bool is) { return std::string(is ? "yes" : "no"); };
    return {{"model", model_.kind == SentencePieceModel::Kind::Unigram ? "unigram" : "bpe"},
            {"byte fallback", yes(model_.byte_fallback)},
            {"normalizer", yes(!model_.normalizer.charsmap.empty())},
            {"space in front", yes(model_.normalizer.add_dummy_prefix)},
            {"spaces removed", yes(model_.normalizer.remove_extra_whitespaces)}};
  }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    encoder_.encode(text, ids);
  }

  // Control pieces are cut out where they are spelt, the longest at each place; what lies between
  // is encoded as texts of their own.
  void encode_with_specials(std::string_view text, std::vector<int32_t>& ids) const override {
    encode_prompt(text, {}, ids);
  }
  void encode_prompt(std::string_view text, const TrustedText& trusted,
                     std::vector<int32_t>& ids) const override {
    size_t begin = 0;
    for (size_t at = 0; at < text.size();) {
      const size_t size = controls_.longest_prefix(text.substr(at));
      if (size == 0 || !trusted.contains(at, at + size)) {
        ++at;
        continue;
      }
      encoder_.encode(text.substr(begin, at - begin), ids);
      ids.push_back(controls_.find(text.substr(at, size)));
      begin = at += size;
    }
    encoder_.encode(text.substr(begin), ids);
  }

  std::string decode(int32_t id) const override { return surface_of(id); }

  std::string decode(const std::vector<int32_t>& ids) const override {
    const SentencePieceRules& rules = model_.normalizer;
    std::string text, bytes;
    bool at_start = rules.add_dummy_prefix || rules.remove_extra_whitespaces;
    for (const int32_t id : ids) {
      std::string_view surface = surface_of(id);
      const auto& piece = model_.pieces[id];
      if (piece.type == PieceType::Byte) {
        bytes += surface;
        continue;
      }
      append_bytes(bytes, text);
      at_start = at_start && text.empty();
      if (at_start && piece.type != PieceType::Unknown && piece.text.starts_with(kSpaceMark)) {
        // The prefix that encoding added; with extra spaces removed, all spaces at the beginning.
        surface.remove_prefix(1);
        at_start = rules.remove_extra_whitespaces;
      }
      text += surface;
    }
    append_bytes(bytes, text);
    if (!denormalizer_) return text;
    std::string denormalized;
    denormalizer_->normalize(text, denormalized);
    return denormalized;
  }

 private:
  const std::string& surface_of(int32_t id) const {
    check(id >= 0 && id < vocab_size(), ErrorCode::Data,
          "cannot decode id {}: expected an id in [0, {}) of the tokenizer", id, vocab_size());
    return surfaces_[id];
  }

  // Bytes that together are no UTF-8 become U+FFFD, each.
  static void append_bytes(std::string& bytes, std::string& text) {
    for (std::string_view rest = bytes; !rest.empty();) {
      const text::Decoded c = text::decode_first(rest);
      text += text::is_invalid(c) ? text::kReplacementCharacter : rest.substr(0, c.size);
      rest.remove_prefix(c.size);
    }
    bytes.clear();
  }

  std::string file_;
  SentencePieceModel model_;
  SentencePieceEncoder encoder_;
  std::optional<SentencePieceNormalizer> denormalizer_;
  DoubleArray controls_;
  std::vector<std::string> surfaces_;  // what each id decodes to by itself
};

}  // namespace

std::unique_ptr<Tokenizer> parse_sentencepiece(std::string_view file, std::string_view origin) {
  return std::make_unique<SentencePieceTokenizer>(file, parse_sentencepiece_model(file, origin),
                                                  origin);
}

}  // namespace ingot
