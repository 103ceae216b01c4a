#include <cstring>

#include "checkpoint/exchange/gguf_export.h"
#include "checkpoint/exchange/hf_tokenizer.h"
#include "checkpoint/exchange/open_weights.h"
#include "core/error.h"
#include "tokenizer/bpe/byte_alphabet.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/convert.h"
#include "tokenizer/replace_all.h"
#include "tokenizer/sentencepiece/model.h"

namespace ingot {
namespace {

// Kinds of tokens have SentencePiece's numbers.
struct TokenList {
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<int32_t> types;

  void add(std::string token, PieceType type, double score = 0.0) {
    tokens.push_back(std::move(token));
    scores.push_back(static_cast<float>(score));
    types.push_back(static_cast<int32_t>(type));
  }
  // A vocabulary that was rounded up.
  void pad(int64_t vocab) {
    while (static_cast<int64_t>(tokens.size()) < vocab)
      add(fmt::format("[PAD{}]", tokens.size()), PieceType::Unused);
  }
};

// llama.cpp's names of the patterns that cut text.
std::string_view pattern_name(Split split) {
  switch (split) {
    case Split::Gpt2:
      return "gpt-2";
    case Split::Llama3:
    case Split::Cl100k:  // the same pattern
      return "llama-bpe";
    case Split::Qwen2:
      return "qwen2";
    case Split::O200k:
      return "gpt-4o";
    default:
      return "default";
  }
}

void add_bpe(GgufMetadata& metadata, const BpeModel& model, int64_t vocab) {
  TokenList list;
  for (const std::string& token : model.tokens)
    list.add(spell_bytes(token), token.empty() ? PieceType::Unused : PieceType::Normal);
  for (const AddedToken& added : model.added) {
    const auto id = static_cast<size_t>(added.id);
    list.tokens[id] = added.content;
    list.types[id] =
        static_cast<int32_t>(added.special ? PieceType::Control : PieceType::UserDefined);
  }
  for (size_t id = 0; id < list.tokens.size(); ++id)
    if (list.tokens[id].empty()) list.tokens[id] = fmt::format("[PAD{}]", id);
  list.pad(vocab);
  std::vector<std::string> merges;
  for (const TokenMerge& merge : model.merges)
    merges.push_back(spell_bytes(model.tokens[merge.left]) + " " +
                     spell_bytes(model.tokens[merge.right]));
  metadata.add("tokenizer.ggml.model", "gpt2");
  metadata.add("tokenizer.ggml.pre", pattern_name(model.split));
  metadata.add("tokenizer.ggml.tokens", list.tokens);
  metadata.add("tokenizer.ggml.token_type", list.types);
  metadata.add("tokenizer.ggml.merges", merges);
  const bool begins = model.bos >= 0 && model.post_processor.find("Template") != std::string::npos;
  metadata.add_flag("tokenizer.ggml.add_bos_token", begins);
}

void add_pieces(GgufMetadata& metadata, TokenList list, bool unigram, int64_t vocab) {
  list.pad(vocab);
  metadata.add("tokenizer.ggml.model", unigram ? "t5" : "llama");
  metadata.add("tokenizer.ggml.tokens", list.tokens);
  metadata.add("tokenizer.ggml.scores", list.scores);
  metadata.add("tokenizer.ggml.token_type", list.types);
}

void add_sentencepiece(GgufMetadata& metadata, const SentencePieceModel& model, int64_t vocab) {
  TokenList list;
  for (const auto& piece : model.pieces) list.add(piece.text, piece.type, piece.score);
  add_pieces(metadata, std::move(list), model.kind == SentencePieceModel::Kind::Unigram, vocab);
  metadata.add_flag("tokenizer.ggml.add_space_prefix", model.normalizer.add_dummy_prefix);
  metadata.add_flag("tokenizer.ggml.add_bos_token", model.bos >= 0);
}

// tokenizer.bin: an int32, then of each id a score, a length and the bytes. It was read before, so
// it is whole. Spaces stand there for SentencePiece's marks.
void add_llama2c(GgufMetadata& metadata, std::string_view file, int64_t vocab) {
  TokenList list;
  for (size_t at = sizeof(int32_t); at < file.size();) {
    float score = 0;
    int32_t length = 0;
    std::memcpy(&score, file.data() + at, sizeof(score));
    std::memcpy(&length, file.data() + at + sizeof(score), sizeof(length));
    at += sizeof(score) + sizeof(length);
    std::string text(file.substr(at, static_cast<size_t>(length)));
    at += static_cast<size_t>(length);
    const size_t id = list.tokens.size();
    if (id >= 3 + 256) replace_all(text, " ", "\xE2\x96\x81");
    if (id == 0)
      list.add("<unk>", PieceType::Unknown, score);
    else if (id < 3)
      list.add(id == 1 ? "<s>" : "</s>", PieceType::Control, score);
    else
      list.add(text, id < 3 + 256 ? PieceType::Byte : PieceType::Normal, score);
  }
  add_pieces(metadata, std::move(list), false, vocab);
  metadata.add_flag("tokenizer.ggml.add_bos_token", true);
}

std::string chat_template_in(const Companions& companions) {
  const auto files = memory_storage();
  files->make_directories("folder");
  for (const auto& [name, contents] : companions.hf_files)
    files->create(join_path("folder", name))->append(std::as_bytes(std::span(contents)));
  return read_chat_files(*files, "folder").source;
}

}  // namespace

void add_gguf_tokenizer(GgufMetadata& metadata, const Companions& companions, int64_t vocab) {
  const auto tokenizer = tokenizer_of(companions);
  const std::string kind = tokenizer->kind();
  if (kind == "byte")
    add_bpe(metadata, byte_bpe_model(), vocab);
  else if (kind == "bpe")
    add_bpe(metadata, parse_tokenizer_json(file_as(*tokenizer, "tokenizer.json"), "the tokenizer"),
            vocab);
  else if (kind == "sentencepiece")
    add_sentencepiece(
        metadata,
        parse_sentencepiece_model(file_as(*tokenizer, "tokenizer.model"), "the tokenizer"), vocab);
  else if (kind == "llama2c")
    add_llama2c(metadata, companions.tokenizer, vocab);
  else
    throw Error(ErrorCode::Data,
                fmt::format("a tokenizer of kind {} has no form in GGUF; use --to hf", kind));
  if (tokenizer->bos() >= 0) metadata.add_u32("tokenizer.ggml.bos_token_id", tokenizer->bos());
  if (tokenizer->eos() >= 0) metadata.add_u32("tokenizer.ggml.eos_token_id", tokenizer->eos());
  if (const std::string source = chat_template_in(companions); !source.empty())
    metadata.add("tokenizer.chat_template", source);
}

}  // namespace ingot
