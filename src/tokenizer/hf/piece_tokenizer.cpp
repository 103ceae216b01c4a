#include <algorithm>
#include <utility>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/hf/pieces.h"
#include "tokenizer/prompt_encoder.h"
#include "tokenizer/sentencepiece/byte_pieces.h"
#include "tokenizer/sentencepiece/encoder.h"
#include "tokenizer/sentencepiece/normalizer.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace {

class HfPieceTokenizer final : public Tokenizer, public PromptEncoder {
 public:
  HfPieceTokenizer(HfPieces pieces, std::string file, std::string_view origin)
      : file_(std::move(file)),
        pieces_(std::move(pieces)),
        encoder_(pieces_.model, origin),
        in_text_(finders(false)),
        in_prompts_(finders(true)),
        is_special_(pieces_.model.pieces.size()) {
    for (const AddedToken& added : pieces_.added) {
      is_special_[added.id] = added.special;
      // Hugging Face decodes these as they stand in normalised text.
      if (added.normalized) pieces_.normalizer.normalize(pieces_.model.pieces[added.id].text);
    }
  }

  using Tokenizer::encode;

  int64_t vocab_size() const override { return static_cast<int64_t>(model().pieces.size()); }
  int32_t bos() const override { return model().bos; }
  int32_t eos() const override { return model().eos; }
  std::string kind() const override { return "sentencepiece"; }
  std::string serialize() const override { return file_; }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    const auto yes = [](bool is) { return std::string(is ? "yes" : "no"); };
    const auto specials = std::count_if(pieces_.added.begin(), pieces_.added.end(),
                                        [](const AddedToken& added) { return added.special; });
    return {{"file", "tokenizer.json"},
            {"model", model().kind == SentencePieceModel::Kind::Unigram ? "unigram" : "bpe"},
            {"byte fallback", yes(model().byte_fallback)},
            {"normalizer", yes(!pieces_.normalizer.empty())},
            {"words", yes(model().hugging_face->split_at_spaces)},
            {"special tokens", std::to_string(specials)},
            {"other added", std::to_string(static_cast<int64_t>(pieces_.added.size()) - specials)}};
  }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    encode_with(in_text_, text, {}, ids);
  }
  void encode_with_specials(std::string_view text, std::vector<int32_t>& ids) const override {
    encode_prompt(text, {}, ids);
  }
  void encode_prompt(std::string_view text, const TrustedText& trusted,
                     std::vector<int32_t>& ids) const override {
    encode_with(in_prompts_, text, trusted, ids);
  }

  std::string decode(int32_t id) const override {
    const SentencePieceModel::Piece& piece = piece_of(id);
    if (is_special_[id]) return {};
    if (piece.type == PieceType::Byte) return {static_cast<char>(*byte_of_piece(piece.text))};
    return with_spaces(piece.text);
  }
  std::string decode(const std::vector<int32_t>& ids) const override {
    std::vector<std::string> tokens;
    for (const int32_t id : ids) {
      const SentencePieceModel::Piece& piece = piece_of(id);
      if (!is_special_[id]) tokens.push_back(piece.text);
    }
    return pieces_.decoder.decode(std::move(tokens));
  }

 private:
  const SentencePieceModel& model() const { return pieces_.model; }
  const SentencePieceModel::Piece& piece_of(int32_t id) const {
    check(id >= 0 && id < vocab_size(), ErrorCode::Data,
          "cannot decode id {}: expected an id in [0, {}) of the tokenizer", id, vocab_size());
    return model().pieces[id];
  }

  std::string normal_form(std::string text) const {
    pieces_.normalizer.normalize(text);
    return text;
  }

  AddedTokenFinders finders(bool with_specials) const {
    return {pieces_.added, with_specials,
            [&](std::string content) { return normal_form(std::move(content)); }};
  }

  void encode_with(const AddedTokenFinders& finders, std::string_view text,
                   const TrustedText& trusted, std::vector<int32_t>& ids) const {
    const auto normalize = [&](std::string raw) {
      return normal_form(pieces_.normalizer.empty() ? std::move(raw) : valid_utf8(raw));
    };
    const auto on_id = [&](int32_t id) { ids.push_back(id); };
    std::string storage;
    cut_out(
        text, trusted, finders.raw,
        [&](std::string_view raw) {
          bool at_start = raw.data() == text.data();
          std::string_view normalized = raw;
          if (!pieces_.normalizer.empty()) {
            storage = valid_utf8(raw);
            at_start = pieces_.normalizer.normalize(storage) && at_start;
            normalized = storage;
          }
          cut_out(
              normalized, finders.trusted_in(raw, normalized, text, trusted, normalize),
              finders.normalized,
              [&](std::string_view part) {
                encode_part(part, at_start && part.data() == normalized.data(), ids);
              },
              on_id);
        },
        on_id);
  }

  bool needs_mark(std::string_view word, bool at_start) const {
    const bool wanted = pieces_.metaspace->prefix == HfMetaspace::Prefix::Always ||
                        (pieces_.metaspace->prefix == HfMetaspace::Prefix::First && at_start);
    return wanted && !begins_with_mark(word);
  }
  static bool begins_with_mark(std::string_view word) {
    return word.starts_with(' ') || word.starts_with(kSpaceMark);
  }

  void encode_part(std::string_view text, bool at_start, std::vector<int32_t>& ids) const {
    if (!pieces_.metaspace || (!pieces_.split_at_whitespace && !needs_mark(text, at_start))) {
      encoder_.encode(text, ids);
      return;
    }
    std::string words;
    if (!pieces_.split_at_whitespace) {
      words.reserve(text.size() + 1);
      encoder_.encode(words.append(1, ' ').append(text), ids);
      return;
    }
    // Words that begin with a mark can go together: the encoder cuts them there.
    const auto end_words = [&] {
      encoder_.encode(words, ids);
      words.clear();
    };
    for_each_word(text, [&](size_t begin, size_t end) {
      const std::string_view word = text.substr(begin, end - begin);
      const bool mark = needs_mark(word, at_start && begin == 0);
      if (!pieces_.metaspace->split || !(mark || begins_with_mark(word))) end_words();
      if (mark) words += ' ';
      words += word;
    });
    end_words();
  }

  template <class Visit>
  static void for_each_word(std::string_view text, const Visit& visit) {
    size_t begin = 0;
    for (size_t at = 0; at < text.size();) {
      const Character c = first_character(text.substr(at));
      if (c.classes & kSpace) {
        if (begin < at) visit(begin, at);
        begin = at + c.size;
      }
      at += c.size;
    }
    if (begin < text.size()) visit(begin, text.size());
  }

  std::string file_;
  HfPieces pieces_;
  SentencePieceEncoder encoder_;
  AddedTokenFinders in_text_, in_prompts_;
  std::vector<bool> is_special_;
};

}  // namespace

std::unique_ptr<Tokenizer> hf_piece_tokenizer(HfPieces pieces, std::string file,
                                              std::string_view origin) {
  return std::make_unique<HfPieceTokenizer>(std::move(pieces), std::move(file), origin);
}

}  // namespace ingot
