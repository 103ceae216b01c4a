#include "tokenizer/tokenizer.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/error/error.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/bpe/prepared.h"
#include "tokenizer/bpe/rank_settings.h"
#include "tokenizer/byte_tokenizer.h"
#include "tokenizer/hf/pieces.h"
#include "tokenizer/hf/pipeline.h"
#include "tokenizer/sentencepiece/sentencepiece.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer_file.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  encode(text, ids);
  return ids;
}

void Tokenizer::encode_with_specials(std::string_view text, std::vector<int32_t>& ids) const {
  encode(text, ids);
}

void Tokenizer::encode_parallel(std::string_view text, ThreadPool&,
                                std::vector<int32_t>& ids) const {
  encode(text, ids);
}

size_t Tokenizer::safe_cut(std::string_view, size_t) const {
  return 0;
}

std::string Tokenizer::decode(const std::vector<int32_t>& ids) const {
  std::string text;
  for (int32_t id : ids) text += decode(id);
  return text;
}

namespace {

constexpr std::string_view kSpaces = " \t\r\n";

bool is_json(std::string_view file) {
  const size_t first = file.find_first_not_of(kSpaces);
  return first != std::string_view::npos && file[first] == '{';
}

// vocab.json maps tokens to ids; tokenizer.json has no number for its first member.
bool is_vocab_json(std::string_view file) {
  size_t at = file.find('"');
  if (at == std::string_view::npos) return false;
  for (++at; at < file.size() && file[at] != '"'; ++at) at += file[at] == '\\' ? 1 : 0;
  at = std::min(file.find(':', at), file.size() - 1);
  const size_t value = file.find_first_not_of(kSpaces, at + 1);
  return value != std::string_view::npos && file[value] >= '0' && file[value] <= '9';
}

bool is_tiktoken(std::string_view file) {  // by its first line, «base64 rank»
  constexpr std::string_view kNumber = "0123456789";
  const size_t space = file.find(' ');
  if (space == 0 || space == std::string_view::npos) return false;
  const bool base64 =
      std::all_of(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(space), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '+' || c == '/' || c == '=';
      });
  const size_t end = file.find_first_not_of(kNumber, space + 1);
  const bool number =
      end != space + 1 && (end == std::string_view::npos || file[end] == '\n' || file[end] == '\r');
  return base64 && space % 4 == 0 && number;
}

std::string beside(const std::string& path, std::string_view name) {
  return join_path(parent_path(path), name);
}

BpeModel load_vocab_and_merges(Storage& storage, const std::string& path, std::string_view vocab) {
  std::string name = file_name(path);
  const size_t at = name.rfind("vocab.json");
  check(
      at != std::string::npos, ErrorCode::Data,
      "{}: a vocabulary without merges: expected a name with «vocab.json», and «merges.txt» in its "
      "place beside it",
      path);
  const std::string merges = beside(path, name.replace(at, 10, "merges.txt"));
  return parse_vocab_and_merges(vocab, read_text(storage, merges), path);
}

// What tokenizer_config.json, if there is one beside the file, says of them.
BosAndEos bos_and_eos_beside(Storage& storage, const std::string& path,
                             const std::vector<AddedToken>& added, BosAndEos otherwise) {
  const std::string config = beside(path, "tokenizer_config.json");
  if (!storage.exists(config)) return otherwise;
  return bos_and_eos_in_config(read_text(storage, config), added, otherwise, config);
}

// Sets BOS and EOS of `model` to what is said beside the file, and in the file, which may be all
// that is kept.
template <class Model>
void configure(Storage& storage, const std::string& path, const std::vector<AddedToken>& added,
               Json& json, Model& model, std::string& file) {
  const BosAndEos here{model.bos, model.eos};
  const BosAndEos ids = bos_and_eos_beside(storage, path, added, here);
  if (ids == here) return;
  set_bos_and_eos(model, ids);
  file = with_bos_and_eos(std::move(json), ids);
}

std::unique_ptr<Tokenizer> load_pieces(Storage& storage, const std::string& path, Json json,
                                       std::string file) {
  HfPieces pieces = hf_pieces_from(json, path);
  configure(storage, path, pieces.added, json, pieces.model, file);
  return hf_piece_tokenizer(std::move(pieces), std::move(file), path);
}

std::unique_ptr<Tokenizer> load_pipeline(Storage& storage, const std::string& path, Json json,
                                         std::string file) {
  HfPipeline pipeline = hf_pipeline_from(json, path);
  configure(storage, path, pipeline.words.vocabulary.added, json, pipeline, file);
  return hf_pipeline_tokenizer(std::move(pipeline), std::move(file));
}

// Another pattern than that of the file would make another tokenizer of it, under its name.
void check_split(const LoadOptions& options, Split of_file, const std::string& path) {
  const Split asked = options.split.value_or(of_file);
  check(asked == of_file, ErrorCode::Usage,
        "--split {}: {} says itself how text is cut, as {}: leave --split out", name_of(asked),
        path, name_of(of_file));
}

// Of a kind of tokenizer that has no pattern of ours.
void refuse_split(const LoadOptions& options, const std::string& path) {
  if (options.split)
    throw Error(ErrorCode::Usage,
                fmt::format("--split {}: {} says itself how text is cut: leave --split out",
                            name_of(*options.split), path));
}

std::unique_ptr<Tokenizer> load_tokenizer_json(Storage& storage, const std::string& path,
                                               std::string file, const LoadOptions& options) {
  Json json = parse_object(file, path);
  if (!is_byte_level_bpe(json) || !has_every_byte(json)) {
    refuse_split(options, path);
    return holds_pieces(json) ? load_pieces(storage, path, std::move(json), std::move(file))
                              : load_pipeline(storage, path, std::move(json), std::move(file));
  }
  BpeModel model = bpe_model_from(json, path);
  set_bos_and_eos(model, bos_and_eos_beside(storage, path, model.added, {model.bos, model.eos}));
  check_split(options, model.split, path);
  return bpe_tokenizer(std::move(model), path);
}

// Pattern and special tokens: by the TOML file beside it, else by the file's name, else by the
// pattern that is asked for.
BpeModel load_tiktoken(Storage& storage, const std::string& path, std::string_view file,
                       const LoadOptions& options) {
  BpeModel model = parse_tiktoken(file, path);
  const std::string settings = rank_settings_path(path), name = file_name(path);
  const std::string encoding = name.substr(0, name.find('.'));
  if (storage.exists(settings)) {
    apply_rank_settings(read_text(storage, settings), settings, model);
    check_split(options, model.split, settings);
  } else if (apply_encoding(encoding, model)) {
    check_split(options, model.split, path);
  } else {
    const size_t published = ranks_of_encoding(encoding);
    const std::string why = published == 0
                                ? "the file does not say how text is cut"
                                : fmt::format("it has {} ranks and {}, whose name it has, {}",
                                              model.tokens.size(), encoding, published);
    check(options.split.has_value(), ErrorCode::Data,
          "{}: {}: give --split with one of {}; or write split = \"…\" into {}, which also a "
          "recipe's data.tokenizer finds; or name the file as its encoding is, such as "
          "cl100k_base.tiktoken",
          path, why, fmt::join(split_names(), ", "), settings);
    apply_split(*options.split, model);
  }
  return model;
}

constexpr size_t kWorthKeeping = size_t{1} << 20;  // bytes; smaller files are read in no time

std::unique_ptr<Tokenizer> load_file(Storage& storage, const std::string& path, std::string file,
                                     const LoadOptions& options) {
  if (is_json(file) && !is_vocab_json(file)) {
    return load_tokenizer_json(storage, path, std::move(file), options);
  }
  if (file == kByteTokenizerFile || (!is_json(file) && !is_tiktoken(file))) {
    refuse_split(options, path);
    if (file == kByteTokenizerFile) return byte_tokenizer();
    return looks_like_sentencepiece(file) ? parse_sentencepiece(file, path)
                                          : parse_llama2c_tokenizer(file, path);
  }
  if (!is_json(file)) return bpe_tokenizer(load_tiktoken(storage, path, file, options), path);
  BpeModel model = load_vocab_and_merges(storage, path, file);
  if (options.split) model.split = *options.split;
  return bpe_tokenizer(std::move(model), path);
}

// All that load_file() may look at, for tokenizer.json and .tiktoken.
SourceKey key_of(Storage& storage, const std::string& path, std::string_view file,
                 const LoadOptions& options) {
  std::vector<std::string> others{file_name(path), std::string(unicode_version()),
                                  options.split ? std::string(name_of(*options.split)) : ""};
  for (const std::string& settings :
       {beside(path, "tokenizer_config.json"), rank_settings_path(path)}) {
    others.push_back(storage.exists(settings) ? read_text(storage, settings) : "");
  }
  return source_key({file, others[0], others[1], others[2], others[3], others[4]});
}

std::string cache_folder;  // empty: none

}  // namespace

void keep_tokenizers_in(const std::string& folder) {
  cache_folder = folder;
}

std::unique_ptr<Tokenizer> load_tokenizer(Storage& storage, const std::string& name_or_path,
                                          const LoadOptions& options) {
  if (name_or_path == "byte") {
    refuse_split(options, name_or_path);
    return byte_tokenizer();
  }
  const std::string path = tokenizer_file(storage, name_or_path);
  std::string file = read_text(storage, path);
  const bool keeps = !cache_folder.empty() && file.size() >= kWorthKeeping &&
                     (is_tiktoken(file) || (is_json(file) && !is_vocab_json(file)));
  if (!keeps) return load_file(storage, path, std::move(file), options);
  const SourceKey key = key_of(storage, path, file, options);
  const auto disk = posix_storage();
  if (auto kept = load_prepared(*disk, cache_folder, key)) return kept;
  auto loaded = load_file(storage, path, std::move(file), options);
  keep_prepared(*disk, cache_folder, key, *loaded);
  return loaded;
}

}  // namespace ingot
