// Small SentencePiece models, written as their files are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/sentencepiece/wire.h"

namespace ingot::testing_support {

struct SmallModel {
  SentencePieceModel::Kind kind = SentencePieceModel::Kind::Unigram;
  std::vector<SentencePieceModel::Piece> pieces;  // after <unk>, <s>, </s> and the bytes
  bool byte_fallback = false;
  bool whitespace_is_suffix = false;
  SentencePieceRules rules = {};

  int32_t first_piece() const { return byte_fallback ? 259 : 3; }

  std::string file() const {
    WireWriter model;
    model.bytes(1, piece_message({"<unk>", 0, PieceType::Unknown}));
    model.bytes(1, piece_message({"<s>", 0, PieceType::Control}));
    model.bytes(1, piece_message({"</s>", 0, PieceType::Control}));
    for (int byte = 0; byte_fallback && byte < 256; ++byte) {
      constexpr char kDigits[] = "0123456789ABCDEF";
      const std::string text{'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'};
      model.bytes(1, piece_message({text, 0, PieceType::Byte}));
    }
    for (const auto& piece : pieces) model.bytes(1, piece_message(piece));
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
