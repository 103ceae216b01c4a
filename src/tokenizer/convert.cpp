#include "tokenizer/convert.h"

#include <algorithm>

#include "core/error/error.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/hf/convert.h"

namespace ingot {
namespace {

struct Format {
  std::string_view extension, kind;
};
constexpr Format kFormats[] = {
    {".json", "bpe"},     {".json", "sentencepiece"},  {".json", "huggingface"},
    {".tiktoken", "bpe"}, {".model", "sentencepiece"}, {".bin", "llama2c"}};

std::string ranks_of(const BpeModel& model) {
  check(!model.nfc, ErrorCode::Data,
        "this tokenizer brings text to NFC first, which .tiktoken cannot say");
  for (const AddedToken& added : model.added) {
    check(
        added.special, ErrorCode::Data,
        "this tokenizer has the added token «{}», which is not special: .tiktoken cannot say that",
        added.content);
  }
  std::string file = to_tiktoken(model);
  // tiktoken takes a piece that is a token whole: the same only if merging its bytes gives it too.
  std::vector<bool> reached(model.tokens.size(), model.whole_piece_first);
  for (const TokenMerge& merge : model.merges) reached[merge.result] = true;
  for (const AddedToken& added : model.added) reached[added.id] = true;
  for (size_t id = 0; id < model.tokens.size(); ++id) {
    check(reached[id] || model.tokens[id].size() < 2, ErrorCode::Data,
          "this tokenizer never makes its token {}, tiktoken would: .tiktoken gives other ids", id);
  }
  return file;
}

// Between .model and tokenizer.json.
std::string pieces_as(std::string_view extension, const Tokenizer& tokenizer, std::string_view name,
                      std::string* other_ids) {
  std::string file = tokenizer.serialize();
  const bool is_json = !looks_like_sentencepiece(file);
  if (is_json == (extension == ".json")) return file;
  return is_json ? sentencepiece_file_of(parse_object(file, name), name, other_ids)
                 : tokenizer_json_of(parse_sentencepiece_model(file, name), name);
}

}  // namespace

std::string file_as(const Tokenizer& tokenizer, std::string_view name, std::string* other_ids) {
  bool known = false;
  for (const Format& format : kFormats) {
    if (!name.ends_with(format.extension)) continue;
    known = true;
    if (format.kind != tokenizer.kind()) continue;
    if (format.kind == "sentencepiece") {
      return pieces_as(format.extension, tokenizer, name, other_ids);
    }
    std::string file = tokenizer.serialize();
    return format.extension == ".tiktoken" ? ranks_of(parse_tokenizer_json(file, name)) : file;
  }
  check(known, ErrorCode::Usage,
        "{}: expected a name that ends with .json, .tiktoken, .model or .bin", name);
  throw Error(ErrorCode::Data,
              fmt::format("{}: this tokenizer is of kind {}, which encodes by other rules than "
                          "such a file",
                          name, tokenizer.kind()));
}

}  // namespace ingot
