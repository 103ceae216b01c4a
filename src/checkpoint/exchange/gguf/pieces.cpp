#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

#include "checkpoint/exchange/gguf/tokens.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "tokenizer/replace_all.h"
#include "tokenizer/sentencepiece/normalizer.h"

namespace ingot {
namespace {

using Kind = SentencePieceModel::Kind;

void refuse(bool where, std::string_view what) {
  check(!where, ErrorCode::Data,
        "the tokenizer {}, as llama.cpp does not: it would give other ids there; use --to hf",
        what);
}

constexpr double kFirst = 1000.0, kNever = -10000.0;  // scores

bool has_type(const SentencePieceModel& model, PieceType type) {
  return std::ranges::any_of(model.pieces, [&](const auto& piece) { return piece.type == type; });
}

// Of the user-defined pieces those with spaces in them are not found in the text; runs of spaces
// merge all the same, where each is one space more than another.
bool finds_user_defined(const SentencePieceModel& model) {
  std::set<size_t> runs = {1};
  for (const auto& piece : model.pieces) {
    if (piece.type != PieceType::UserDefined) continue;
    std::string rest = piece.text;
    replace_all(rest, kSpaceMark, "");
    if (rest == piece.text) continue;
    if (!rest.empty() || model.kind == Kind::Unigram) return false;
    runs.insert(piece.text.size() / kSpaceMark.size());
  }
  return *runs.rbegin() == runs.size();
}

void check_pieces(const SentencePieceModel& model) {
  const SentencePieceRules& rules = model.normalizer;
  const bool bpe = model.kind == Kind::Bpe;
  refuse(model.whitespace_is_suffix, "puts spaces after words");
  refuse(!rules.escape_whitespaces, "leaves spaces as they are");
  refuse(has_type(model, PieceType::Unused), "passes over pieces that it has");
  refuse(!finds_user_defined(model), "finds user-defined pieces with spaces in them");
  refuse(rules.add_dummy_prefix && has_type(model, PieceType::UserDefined),
         "puts no space after user-defined pieces");
  refuse(bpe && !rules.charsmap.empty(), "normalises text before BPE");
  refuse(bpe && rules.remove_extra_whitespaces, "drops spaces before BPE");
  refuse(bpe && !model.byte_fallback, "knows BPE without pieces for bytes");
  refuse(!bpe && model.byte_fallback, "gives bytes for unknown characters in unigram");
  refuse(!bpe && rules.remove_extra_whitespaces != rules.add_dummy_prefix,
         "either drops spaces or puts one first in unigram, not both");
}

}  // namespace

void GgufTokens::add(std::string text, PieceType type, double score) {
  texts.push_back(std::move(text));
  scores.push_back(static_cast<float>(score));
  types.push_back(static_cast<int32_t>(type));
}

void GgufTokens::write(GgufMetadata& metadata, int64_t vocab) {
  while (static_cast<int64_t>(texts.size()) < vocab)
    add(fmt::format("[PAD{}]", texts.size()), PieceType::Unused, kNever);  // unigram looks at it
  std::unordered_map<std::string_view, size_t> seen;
  for (size_t id = 0; id < texts.size(); ++id) {
    const auto [other, is_new] = seen.emplace(texts[id], id);
    check(is_new, ErrorCode::Data,
          "tokens {} and {} would both be «{}» in GGUF, which llama.cpp does not load; use --to hf",
          other->second, id, texts[id]);
  }
  metadata.add("tokenizer.ggml.tokens", texts);
  metadata.add("tokenizer.ggml.scores", scores);
  metadata.add("tokenizer.ggml.token_type", types);
}

void add_gguf_pieces(GgufMetadata& metadata, const SentencePieceModel& model, int64_t vocab) {
  check_pieces(model);
  const bool unigram = model.kind == Kind::Unigram;
  GgufTokens tokens;
  for (const auto& piece : model.pieces) {
    // Not looked for in the text where they are marks, but merged like others: before them.
    const bool first = piece.type == PieceType::UserDefined;
    tokens.add(piece.text, piece.type, first ? kFirst : piece.score);
  }
  metadata.add("tokenizer.ggml.model", unigram ? "t5" : "llama");
  tokens.write(metadata, vocab);
  metadata.add_u32("tokenizer.ggml.unknown_token_id", model.unknown);
  metadata.add_flag("tokenizer.ggml.add_space_prefix", model.normalizer.add_dummy_prefix);
  if (!unigram) return;
  metadata.add_flag("tokenizer.ggml.remove_extra_whitespaces",
                    model.normalizer.remove_extra_whitespaces);
  log::warn("gguf_tokenizer", {{"why",
                                "llama.cpp adds up scores of unigram pieces in double: "
                                "where two ways to cut a text all but tie, it may take the "
                                "other one"}});
  if (!model.normalizer.charsmap.empty())
    metadata.add_bytes("tokenizer.ggml.precompiled_charsmap", model.normalizer.charsmap);
}

// An int32, then of each id a score, a length and the bytes. Spaces stand there for SentencePiece's
// marks.
void add_gguf_llama2c(GgufMetadata& metadata, std::string_view file, int64_t vocab) {
  GgufTokens tokens;
  for (size_t at = sizeof(int32_t); at < file.size();) {
    float score = 0;
    int32_t length = 0;
    std::memcpy(&score, file.data() + at, sizeof(score));
    std::memcpy(&length, file.data() + at + sizeof(score), sizeof(length));
    at += sizeof(score) + sizeof(length);
    std::string text(file.substr(at, static_cast<size_t>(length)));
    at += static_cast<size_t>(length);
    const size_t id = tokens.texts.size();
    if (id >= 3 + 256) replace_all(text, " ", kSpaceMark);
    if (id == 0)
      tokens.add("<unk>", PieceType::Unknown, score);
    else if (id < 3)
      tokens.add(id == 1 ? "<s>" : "</s>", PieceType::Control, score);
    else
      tokens.add(text, id < 3 + 256 ? PieceType::Byte : PieceType::Normal, score);
  }
  metadata.add("tokenizer.ggml.model", "llama");
  tokens.write(metadata, vocab);
  metadata.add_u32("tokenizer.ggml.unknown_token_id", 0);
  metadata.add_flag("tokenizer.ggml.add_space_prefix", true);
}

}  // namespace ingot
