#include "tokenizer/special_tokens.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ingot {
namespace {

struct Encoding {
  std::string_view name;
  Split split;
  std::vector<std::pair<std::string_view, int32_t>> specials;
};

const std::vector<Encoding>& encodings() {
  static const std::vector<Encoding> all = {
      {"r50k_base", Split::Gpt2, {{"<|endoftext|>", 50256}}},
      {"p50k_base", Split::Gpt2, {{"<|endoftext|>", 50256}}},
      {"p50k_edit",
       Split::Gpt2,
       {{"<|endoftext|>", 50256},
        {"<|fim_prefix|>", 50281},
        {"<|fim_middle|>", 50282},
        {"<|fim_suffix|>", 50283}}},
      {"cl100k_base",
       Split::Cl100k,
       {{"<|endoftext|>", 100257},
        {"<|fim_prefix|>", 100258},
        {"<|fim_middle|>", 100259},
        {"<|fim_suffix|>", 100260},
        {"<|endofprompt|>", 100276}}},
      {"o200k_base", Split::O200k, {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}},
      {"o200k_harmony",
       Split::O200k,
       {{"<|startoftext|>", 199998},
        {"<|endoftext|>", 199999},
        {"<|return|>", 200002},
        {"<|constrain|>", 200003},
        {"<|channel|>", 200005},
        {"<|start|>", 200006},
        {"<|end|>", 200007},
        {"<|message|>", 200008},
        {"<|call|>", 200012},
        {"<|endofprompt|>", 200018}}},
  };
  return all;
}

// The first that a tokenizer has.
constexpr std::string_view kBosNames[] = {"<|begin_of_text|>", "<|startoftext|>", "<s>", "<|bos|>",
                                          "<bos>"};
constexpr std::string_view kEosNames[] = {"<|end_of_text|>", "<|endoftext|>", "</s>", "<|eos|>",
                                          "<eos>"};

template <size_t n>
int32_t first_of(const std::string_view (&names)[n], const std::vector<AddedToken>& tokens) {
  for (const std::string_view name : names) {
    for (const AddedToken& added : tokens) {
      if (added.special && added.content == name) return added.id;
    }
  }
  return -1;
}

}  // namespace

bool apply_encoding(std::string_view name, BpeModel& model) {
  const auto encoding = std::find_if(encodings().begin(), encodings().end(),
                                     [&](const Encoding& e) { return e.name == name; });
  if (encoding == encodings().end()) return false;
  model.split = encoding->split;
  for (const auto& [content, id] : encoding->specials) {
    AddedToken token;
    token.content = content;
    token.id = id;
    token.special = true;
    model.added.push_back(std::move(token));
    if (model.tokens.size() <= static_cast<size_t>(id)) model.tokens.resize(id + 1);
  }
  return true;
}

BosAndEos bos_and_eos_of(const std::vector<AddedToken>& added) {
  BosAndEos ids{first_of(kBosNames, added), first_of(kEosNames, added)};
  if (ids.bos < 0) ids.bos = ids.eos;
  if (ids.eos < 0) ids.eos = ids.bos;
  return ids;
}

}  // namespace ingot
