#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "checkpoint/auxiliary_files.h"
#include "checkpoint/exchange/gguf/export.h"
#include "checkpoint/exchange/gguf/tokens.h"
#include "checkpoint/exchange/hf/stop_ids.h"
#include "checkpoint/exchange/hf/tokenizer.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "tokenizer/convert.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/replace_all.h"
#include "tokenizer/sentencepiece/normalizer.h"
#include "tokenizer/sentencepiece/sentencepiece.h"

namespace ingot {
namespace {

constexpr char kTokenizer[] = "the tokenizer";

// Whether the two have as many ids, and make the same of every piece's text.
bool same_ids(const Tokenizer& a, const Tokenizer& b, const SentencePieceModel& model) {
  if (a.vocab_size() != b.vocab_size()) return false;
  return std::ranges::all_of(model.pieces, [&](const SentencePieceModel::Piece& piece) {
    std::string text = piece.text;
    replace_all(text, kSpaceMark, " ");
    return a.encode(text) == b.encode(text);
  });
}

// Of a tokenizer.json that .model cannot say, the one that came with it: Gemma's is such.
SentencePieceModel pieces_of(const Tokenizer& tokenizer, const AuxiliaryFiles& auxiliary_files) {
  try {
    return parse_sentencepiece_model(file_as(tokenizer, "tokenizer.model"), kTokenizer);
  } catch (const Error& error) {
    if (const auto own = auxiliary_files.hf_files.find("tokenizer.model");
        own != auxiliary_files.hf_files.end()) {
      SentencePieceModel model = parse_sentencepiece_model(own->second, own->first);
      if (same_ids(tokenizer, *parse_sentencepiece(own->second, own->first), model)) {
        log::warn(
            "gguf_tokenizer",
            {{"why", fmt::format("{}; written by tokenizer.model, whose ids are the same for every "
                                 "piece, but may differ in longer runs of spaces",
                                 error.what())}});
        return model;
      }
    }
    throw Error(
        ErrorCode::Data,
        fmt::format("{}; GGUF is written for what tokenizer.model can say: import the model "
                    "with its tokenizer.model, or use --to hf",
                    error.what()));
  }
}

// The file has names for two ids that end a text besides EOS.
void add_stop_ids(GgufMetadata& metadata, const std::vector<int32_t>& ids) {
  constexpr std::string_view kKeys[] = {
      "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"};
  const size_t written = std::min(ids.size(), std::size(kKeys));
  for (size_t i = 0; i < written; ++i) metadata.add_u32(kKeys[i], ids[i]);
  if (written < ids.size())
    log::warn("gguf_tokenizer",
              {{"why", fmt::format("GGUF names three ids that end a text, the model has {}: {} "
                                   "were left out",
                                   ids.size(),
                                   fmt::join(ids.begin() + static_cast<ptrdiff_t>(written),
                                             ids.end(), ", "))}});
}

void add_tokens(GgufMetadata& metadata, const Tokenizer& tokenizer,
                const AuxiliaryFiles& auxiliary_files, int64_t vocab) {
  const std::string kind = tokenizer.kind();
  if (kind == "sentencepiece")
    return add_gguf_pieces(metadata, pieces_of(tokenizer, auxiliary_files), vocab);
  if (kind == "llama2c") return add_gguf_llama2c(metadata, auxiliary_files.tokenizer, vocab);
  BpeModel model;
  if (kind == "huggingface") {
    const std::string_view pre = gguf_pre_of(auxiliary_files.tokenizer, model);
    return add_gguf_bpe(metadata, model, pre, vocab);
  }
  model = kind == "byte" ? byte_bpe_model()
                         : parse_tokenizer_json(file_as(tokenizer, "tokenizer.json"), kTokenizer);
  add_gguf_bpe(metadata, model, gguf_pre_of(model), vocab);
}

void add_chat_template(GgufMetadata& metadata,
                       const std::map<std::string, ChatFiles::Source>& templates) {
  std::vector<std::string_view> left_out;
  for (const auto& [name, source] : templates) {
    if (name == "default")
      metadata.add("tokenizer.chat_template", source.text);
    else
      left_out.push_back(name);
  }
  if (!left_out.empty())
    log::warn("chat_templates_left_out",
              {{"why", fmt::format("{} chat templates besides the default are not written: {}",
                                   left_out.size(), fmt::join(left_out, ", "))}});
}

}  // namespace

void add_gguf_tokenizer(GgufMetadata& metadata, const AuxiliaryFiles& auxiliary_files,
                        int64_t vocab) {
  const auto tokenizer = tokenizer_of(auxiliary_files);
  add_tokens(metadata, *tokenizer, auxiliary_files, vocab);
  // Without these llama.cpp takes ids of its own choice, and ends texts at a comma.
  check(tokenizer->eos() >= 0, ErrorCode::Data,
        "the tokenizer names no token that ends a text, and llama.cpp would take any other for it: "
        "name it as eos_token in tokenizer_config.json and import the model again, or use --to hf");
  const int32_t bos = tokenizer->bos() >= 0 ? tokenizer->bos() : tokenizer->eos();
  metadata.add_u32("tokenizer.ggml.bos_token_id", bos);
  add_stop_ids(metadata, stop_ids_of(auxiliary_files, *tokenizer));
  const TextEnds ends = text_ends_of(auxiliary_files, *tokenizer);
  metadata.add_flag("tokenizer.ggml.add_bos_token", ends.bos);
  metadata.add_flag("tokenizer.ggml.add_eos_token", ends.eos);
  add_chat_template(metadata, chat_files_of(auxiliary_files).templates);
}

}  // namespace ingot
