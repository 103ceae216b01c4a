// The parts of tokenizer.ggml.*, by kind of tokenizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/gguf/file.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/sentencepiece/model.h"

namespace ingot {

// A vocabulary as in the file. Token types have SentencePiece's numbers.
struct GgufTokens {
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> types;

  void add(std::string text, PieceType type, double score = 0.0);
  // Pads a vocabulary that was rounded up, and writes it. Throws ErrorCode::Data if two tokens have
  // the same text, which crashes llama.cpp.
  void write(GgufMetadata& metadata, int64_t vocab);
};

// All throw ErrorCode::Data with the reason if llama.cpp would give other ids for a text.

// Byte-level BPE; `pre`: llama.cpp's name of the pre-tokenizer.
void add_gguf_bpe(GgufMetadata& metadata, const BpeModel& model, std::string_view pre,
                  int64_t vocab);
std::string_view gguf_pre_of(const BpeModel& model);
// The same for a tokenizer.json whose pattern has no scanner here; also fills the model.
std::string_view gguf_pre_of(std::string_view tokenizer_json, BpeModel& model);

// The inverse: the pre-tokenizer of a llama.cpp name.
struct GgufPre {
  Split split = Split::Gpt2;
  bool whole_piece_first = false;
  bool adds_bos = false;                     // if the file does not say
  std::vector<std::string_view> words = {};  // a pre-tokenizer that has no scanner here
};
GgufPre gguf_pre_named(std::string_view name);
// The tokenizer.json of a BPE model, split by `pre.words`.
std::string with_gguf_pre_tokenizer(std::string_view tokenizer_json, const GgufPre& pre);

void add_gguf_pieces(GgufMetadata& metadata, const SentencePieceModel& model, int64_t vocab);

// llama2.c's tokenizer.bin, already read.
void add_gguf_llama2c(GgufMetadata& metadata, std::string_view file, int64_t vocab);

}  // namespace ingot
