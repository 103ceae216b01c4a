// Small SentencePiece models, written as their files are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/sentencepiece_model.h"

namespace ingot::testing_support {

// Fields of a protocol buffer message.
class WireWriter {
 public:
  WireWriter& varint(uint64_t field, uint64_t value) {
    raw_varint(field << 3);
    raw_varint(value);
    return *this;
  }
  WireWriter& bytes(uint64_t field, std::string_view value) {
    raw_varint(field << 3 | 2);
    raw_varint(value.size());
    message_ += value;
    return *this;
  }
  WireWriter& real(uint64_t field, float value) {
    raw_varint(field << 3 | 5);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    message_.append(raw, sizeof value);
    return *this;
  }
  const std::string& message() const { return message_; }

 private:
  void raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) message_ += static_cast<char>(value | 0x80);
    message_ += static_cast<char>(value);
  }
  std::string message_;
};

inline std::string piece_message(std::string_view text, float score, PieceType type) {
  return WireWriter()
      .bytes(1, text)
      .real(2, score)
      .varint(3, static_cast<uint64_t>(type))
      .message();
}

struct SmallModel {
  SentencePieceModel::Kind kind = SentencePieceModel::Kind::Unigram;
  std::vector<SentencePieceModel::Piece> pieces;  // after <unk>, <s>, </s> and the bytes
  bool byte_fallback = false;
  bool whitespace_is_suffix = false;
  SentencePieceRules rules = {};

  int32_t first_piece() const { return byte_fallback ? 259 : 3; }

  std::string file() const {
    WireWriter model;
    model.bytes(1, piece_message("<unk>", 0, PieceType::Unknown));
    model.bytes(1, piece_message("<s>", 0, PieceType::Control));
    model.bytes(1, piece_message("</s>", 0, PieceType::Control));
    for (int byte = 0; byte_fallback && byte < 256; ++byte) {
      constexpr char kDigits[] = "0123456789ABCDEF";
      const std::string text{'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'};
      model.bytes(1, piece_message(text, 0, PieceType::Byte));
    }
    for (const auto& piece : pieces)
      model.bytes(1, piece_message(piece.text, piece.score, piece.type));
    WireWriter trainer, normalizer;
    trainer.varint(3, static_cast<uint64_t>(kind))
        .varint(24, whitespace_is_suffix)
        .varint(35, byte_fallback);
    normalizer.varint(3, rules.add_dummy_prefix).varint(4, rules.remove_extra_whitespaces);
    normalizer.varint(5, rules.escape_whitespaces).bytes(2, rules.charsmap);
    return model.bytes(2, trainer.message()).bytes(3, normalizer.message()).message();
  }
};

}  // namespace ingot::testing_support
