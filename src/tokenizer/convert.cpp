#include "tokenizer/convert.h"

#include <algorithm>

#include "core/error.h"
#include "tokenizer/bpe_model.h"

namespace ingot {
namespace {

struct Format {
  std::string_view extension, kind;
};
constexpr Format kFormats[] = {
    {".json", "bpe"}, {".tiktoken", "bpe"}, {".model", "sentencepiece"}, {".bin", "llama2c"}};

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

}  // namespace

std::string file_as(const Tokenizer& tokenizer, std::string_view name) {
  const auto* format =
      std::find_if(std::begin(kFormats), std::end(kFormats),
                   [&](const Format& known) { return name.ends_with(known.extension); });
  check(format != std::end(kFormats), ErrorCode::Usage,
        "{}: expected a name that ends with .json, .tiktoken, .model or .bin", name);
  check(format->kind == tokenizer.kind(), ErrorCode::Data,
        "{}: a file of kind {}: this tokenizer is of kind {}, which encodes by other rules", name,
        format->kind, tokenizer.kind());
  std::string file = tokenizer.serialize();
  return format->extension == ".tiktoken" ? ranks_of(parse_tokenizer_json(file, name)) : file;
}

}  // namespace ingot
