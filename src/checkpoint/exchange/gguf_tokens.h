// The parts of tokenizer.ggml.*, by how a tokenizer makes ids of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/gguf_file.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/sentencepiece/model.h"

namespace ingot {

// A vocabulary as the file has it. Kinds of tokens have SentencePiece's numbers.
struct GgufTokens {
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> types;

  void add(std::string text, PieceType type, double score = 0.0);
  // Fills up a vocabulary that was rounded up, and writes it. Throws ErrorCode::Data where two
  // tokens have one text, which llama.cpp does not survive.
  void write(GgufMetadata& metadata, int64_t vocab);
};

// All throw ErrorCode::Data, saying why, where llama.cpp would make other ids of a text.

// Byte-level BPE; `pre`: what llama.cpp calls the way text is cut.
void add_gguf_bpe(GgufMetadata& metadata, const BpeModel& model, std::string_view pre,
                  int64_t vocab);
std::string_view gguf_pre_of(const BpeModel& model);
// The same of a tokenizer.json whose parts are none of our patterns; the model is set, too.
std::string_view gguf_pre_of(std::string_view tokenizer_json, BpeModel& model);

// The other way: how text is cut under a name of llama.cpp's.
struct GgufPre {
  Split split = Split::Gpt2;
  bool whole_piece_first = false;
  bool adds_bos = false;                     // where the file does not say it
  std::vector<std::string_view> words = {};  // an arrangement that is none of our patterns
};
GgufPre gguf_pre_named(std::string_view name);
// The tokenizer.json of a BPE model, cut by `pre.words`.
std::string with_gguf_pre_tokenizer(std::string_view tokenizer_json, const GgufPre& pre);

void add_gguf_pieces(GgufMetadata& metadata, const SentencePieceModel& model, int64_t vocab);

// llama2.c's tokenizer.bin, which was read before.
void add_gguf_llama2c(GgufMetadata& metadata, std::string_view file, int64_t vocab);

}  // namespace ingot
