#include "tokenizer/sentencepiece/model.h"

#include <bitset>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/sentencepiece/byte_pieces.h"
#include "tokenizer/sentencepiece/trie.h"
#include "tokenizer/sentencepiece/wire.h"

namespace ingot {
namespace {

using Piece = SentencePieceModel::Piece;
using Type = WireReader::Type;

constexpr size_t kLongestPiece = 8000;  // SentencePiece's limit
constexpr size_t kMaxPieces = DoubleArray::kMaxValues;

class Parser {
 public:
  explicit Parser(std::string_view origin) : origin_(origin) {}

  SentencePieceModel parse(std::string_view file) {
    for_each_field(file, "model", [&](const WireReader::Field& field) {
      if (field.type != Type::Bytes) return;
      if (field.number == 1) parse_piece(field.bytes);
      if (field.number == 2) parse_trainer_spec(field.bytes);
      if (field.number == 3) parse_rules(field.bytes, model_.normalizer);
      if (field.number == 5) parse_rules(field.bytes, model_.denormalizer);
    });
    check_pieces();
    return std::move(model_);
  }

 private:
  template <class Visit>
  void for_each_field(std::string_view message, const char* name, const Visit& visit) {
    WireReader reader(message);
    while (const auto field = reader.next()) visit(*field);
    check(!reader.malformed(), ErrorCode::Data,
          "{}: not a SentencePiece model, or damaged: the {} ends or is unreadable {} bytes before "
          "its end",
          origin_, name, reader.bytes_left());
  }

  void parse_piece(std::string_view message) {
    Piece piece;
    uint64_t type = static_cast<uint64_t>(PieceType::Normal);
    for_each_field(message, "piece", [&](const WireReader::Field& field) {
      if (field.number == 1 && field.type == Type::Bytes) piece.text = field.bytes;
      if (field.number == 2 && field.type == Type::Fixed32)
        piece.score = static_cast<double>(field.real());
      if (field.number == 3 && field.type == Type::Varint) type = field.value;
    });
    check(type >= 1 && type <= 6, ErrorCode::Data,
          "{}: piece {}: expected a type of 1 to 6, got {}", origin_, model_.pieces.size(), type);
    piece.type = static_cast<PieceType>(type);
    model_.pieces.push_back(std::move(piece));
  }

  void parse_trainer_spec(std::string_view message) {
    for_each_field(message, "trainer_spec", [&](const WireReader::Field& field) {
      const bool varint = field.type == Type::Varint, bytes = field.type == Type::Bytes;
      if (field.number == 3 && varint) {
        check(field.value == 1 || field.value == 2, ErrorCode::Data,
              "{}: expected a model of type unigram (1) or BPE (2), got {}", origin_, field.value);
        model_.kind = static_cast<SentencePieceModel::Kind>(field.value);
      }
      if (field.number == 24 && varint) model_.whitespace_is_suffix = field.flag();
      if (field.number == 35 && varint) model_.byte_fallback = field.flag();
      if (field.number == 44 && bytes) model_.unknown_surface = field.bytes;
      if (field.number == 46 && bytes) bos_piece_ = field.bytes;
      if (field.number == 47 && bytes) eos_piece_ = field.bytes;
    });
  }

  void parse_rules(std::string_view message, SentencePieceRules& rules) {
    for_each_field(message, "normalizer_spec", [&](const WireReader::Field& field) {
      const bool varint = field.type == Type::Varint;
      if (field.number == 2 && field.type == Type::Bytes) rules.charsmap = field.bytes;
      if (field.number == 3 && varint) rules.add_dummy_prefix = field.flag();
      if (field.number == 4 && varint) rules.remove_extra_whitespaces = field.flag();
      if (field.number == 5 && varint) rules.escape_whitespaces = field.flag();
    });
  }

  void check_pieces() {
    check(model_.pieces.size() < kMaxPieces, ErrorCode::Data,
          "{}: expected less than {} pieces, got {}", origin_, kMaxPieces, model_.pieces.size());
    std::unordered_map<std::string_view, int32_t> id_of;
    std::bitset<256> bytes;
    for (size_t i = 0; i < model_.pieces.size(); ++i) {
      const Piece& piece = model_.pieces[i];
      const auto id = static_cast<int32_t>(i);
      check(!piece.text.empty() && piece.text.size() < kLongestPiece &&
                piece.text.find('\0') == std::string::npos && is_utf8(piece.text),
            ErrorCode::Data, "{}: piece {}: expected 1 to {} bytes of UTF-8 without NUL, got «{}»",
            origin_, id, kLongestPiece - 1, piece.text.substr(0, 100));
      check(std::isfinite(piece.score), ErrorCode::Data,
            "{}: piece {} «{}»: expected a finite score, got {}", origin_, id, piece.text,
            piece.score);
      check(id_of.emplace(piece.text, id).second, ErrorCode::Data,
            "{}: piece {} «{}» is there twice: expected different pieces", origin_, id, piece.text);
      if (piece.type == PieceType::Unknown) {
        check(model_.unknown < 0, ErrorCode::Data,
              "{}: pieces {} and {} both stand for the unknown: expected one", origin_,
              model_.unknown, id);
        model_.unknown = id;
      }
      if (piece.type == PieceType::Byte) {
        const std::optional<uint8_t> byte = byte_of_piece(piece.text);
        check(byte && model_.byte_fallback, ErrorCode::Data,
              "{}: piece {} «{}»: expected a byte piece to be <0x00> to <0xFF>, in a model with "
              "byte_fallback",
              origin_, id, piece.text);
        bytes.set(*byte);
      }
    }
    check(model_.unknown >= 0, ErrorCode::Data,
          "{}: expected a piece for the unknown among {} pieces, got none", origin_,
          model_.pieces.size());
    check(!model_.byte_fallback || bytes.all(), ErrorCode::Data,
          "{}: byte_fallback is set: expected 256 byte pieces, got {}", origin_, bytes.count());
    model_.bos = control_piece(id_of, bos_piece_);
    model_.eos = control_piece(id_of, eos_piece_);
  }

  int32_t control_piece(const std::unordered_map<std::string_view, int32_t>& id_of,
                        std::string_view text) const {
    const auto found = id_of.find(text);
    if (found == id_of.end()) return -1;
    return model_.pieces[found->second].type == PieceType::Control ? found->second : -1;
  }

  std::string_view origin_;
  SentencePieceModel model_;
  std::string_view bos_piece_ = "<s>", eos_piece_ = "</s>";
};

}  // namespace

SentencePieceModel parse_sentencepiece_model(std::string_view file, std::string_view origin) {
  return Parser(origin).parse(file);
}

std::string piece_message(const SentencePieceModel::Piece& piece) {
  return WireWriter()
      .bytes(1, piece.text)
      .real(2, static_cast<float>(piece.score))
      .varint(3, static_cast<uint64_t>(piece.type))
      .message();
}

std::string to_sentencepiece_file(const SentencePieceModel& model) {
  WireWriter file, trainer, rules;
  for (const Piece& piece : model.pieces) file.bytes(1, piece_message(piece));
  const auto id = [](int32_t value) { return static_cast<uint64_t>(int64_t{value}); };
  trainer.varint(3, static_cast<uint64_t>(model.kind)).varint(4, model.pieces.size());
  trainer.varint(35, model.byte_fallback ? 1 : 0).varint(40, id(model.unknown));
  trainer.varint(41, id(model.bos)).varint(42, id(model.eos)).varint(43, id(-1));
  trainer.bytes(45, model.pieces[model.unknown].text);
  if (model.bos >= 0) trainer.bytes(46, model.pieces[model.bos].text);
  if (model.eos >= 0) trainer.bytes(47, model.pieces[model.eos].text);
  rules.bytes(1, model.normalizer.charsmap.empty() ? "identity" : "user_defined");
  rules.bytes(2, model.normalizer.charsmap);
  rules.varint(3, model.normalizer.add_dummy_prefix ? 1 : 0);
  rules.varint(4, model.normalizer.remove_extra_whitespaces ? 1 : 0);
  rules.varint(5, model.normalizer.escape_whitespaces ? 1 : 0);
  return file.bytes(2, trainer.message()).bytes(3, rules.message()).message();
}

bool looks_like_sentencepiece(std::string_view file) {
  WireReader reader(file);
  bool has_piece = false;
  while (const auto field = reader.next()) {
    has_piece = has_piece || (field->number == 1 && field->type == Type::Bytes);
  }
  return has_piece && !reader.malformed();
}

}  // namespace ingot
