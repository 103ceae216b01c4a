#include "tokenizer/special_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ingot {
namespace {

struct Encoding {
  std::string_view name;  // of its file; empty: that has no name of its own
  Split split;
  size_t num_ranks;  // of the published file, unused ones included
  std::vector<std::pair<std::string, int32_t>> specials;
};

// 256 of them follow Llama 3's ranks; what is not used yet has a name all the same.
Encoding llama3() {
  Encoding encoding{"", Split::Llama3, 128000, {}};
  const auto add = [&](std::string content) {
    encoding.specials.emplace_back(std::move(content),
                                   static_cast<int32_t>(128000 + encoding.specials.size()));
  };
  int reserved = 0;
  const auto reserve_until = [&](int end) {
    for (; reserved < end; ++reserved) add(fmt::format("<|reserved_special_token_{}|>", reserved));
  };
  add("<|begin_of_text|>");
  add("<|end_of_text|>");
  reserve_until(4);
  add("<|start_header_id|>");
  add("<|end_header_id|>");
  reserve_until(5);
  add("<|eot_id|>");
  reserve_until(251);
  return encoding;
}

const std::vector<Encoding>& encodings() {
  static const std::vector<Encoding> all = {
      {"r50k_base", Split::Gpt2, 50256, {{"<|endoftext|>", 50256}}},
      {"p50k_base", Split::Gpt2, 50281, {{"<|endoftext|>", 50256}}},
      {"p50k_edit",
       Split::Gpt2,
       50281,
       {{"<|endoftext|>", 50256},
        {"<|fim_prefix|>", 50281},
        {"<|fim_middle|>", 50282},
        {"<|fim_suffix|>", 50283}}},
      {"cl100k_base",
       Split::Cl100k,
       100256,
       {{"<|endoftext|>", 100257},
        {"<|fim_prefix|>", 100258},
        {"<|fim_middle|>", 100259},
        {"<|fim_suffix|>", 100260},
        {"<|endofprompt|>", 100276}}},
      {"o200k_base",
       Split::O200k,
       199998,
       {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}},
      {"o200k_harmony",
       Split::O200k,
       199998,
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
      llama3(),
      {"",
       Split::Qwen2,
       151643,
       {{"<|endoftext|>", 151643}, {"<|im_start|>", 151644}, {"<|im_end|>", 151645}}},
      {"",  // of no one size
       Split::Nanochat,
       0,
       {{"<|bos|>", 0},
        {"<|user_start|>", 1},
        {"<|user_end|>", 2},
        {"<|assistant_start|>", 3},
        {"<|assistant_end|>", 4},
        {"<|python_start|>", 5},
        {"<|python_end|>", 6},
        {"<|output_start|>", 7},
        {"<|output_end|>", 8}}},
  };
  return all;
}

// The first that a tokenizer has.
constexpr std::string_view kBosNames[] = {
    "<|begin_of_text|>",       "<|startoftext|>", "<s>",  "<|bos|>", "<bos>",
    "<｜begin▁of▁sentence｜>", "<BOS_TOKEN>",     "[BOS]"};
constexpr std::string_view kEosNames[] = {
    "<|end_of_text|>", "<|endoftext|>",         "</s>",        "<|eos|>",
    "<eos>",           "<｜end▁of▁sentence｜>", "<EOS_TOKEN>", "[EOS]"};

template <size_t n>
int32_t first_of(const std::string_view (&names)[n], const std::vector<AddedToken>& tokens) {
  for (const std::string_view name : names) {
    for (const AddedToken& added : tokens) {
      if (added.special && added.content == name) return added.id;
    }
  }
  return -1;
}

const Encoding* encoding_named(std::string_view name) {
  for (const Encoding& encoding : encodings())
    if (!name.empty() && encoding.name == name) return &encoding;
  return nullptr;
}

void apply(const Encoding& encoding, bool is_published, BpeModel& model) {
  model.split = encoding.split;
  for (const auto& [content, id] : encoding.specials) {
    add_special_token(content, is_published ? id : static_cast<int32_t>(model.tokens.size()),
                      model);
  }
  set_bos_and_eos(model, bos_and_eos_of(model.added));
}

}  // namespace

void add_special_token(std::string_view content, int32_t id, BpeModel& model) {
  AddedToken token;
  token.content = content;
  token.id = id;
  token.special = true;
  model.added.push_back(std::move(token));
  if (model.tokens.size() <= static_cast<size_t>(id)) model.tokens.resize(id + 1);
}

bool apply_encoding(std::string_view name, BpeModel& model) {
  const Encoding* encoding = encoding_named(name);
  if (encoding == nullptr || encoding->num_ranks != model.tokens.size()) return false;
  apply(*encoding, true, model);
  return true;
}

size_t ranks_of_encoding(std::string_view name) {
  const Encoding* encoding = encoding_named(name);
  return encoding == nullptr ? 0 : encoding->num_ranks;
}

void apply_split(Split split, BpeModel& model) {
  model.split = split;
  const auto& all = encodings();
  const auto find = [&](auto fits) { return std::find_if(all.begin(), all.end(), fits); };
  const auto published = find([&](const Encoding& encoding) {
    return encoding.split == split && encoding.num_ranks == model.tokens.size();
  });
  if (published != all.end()) return apply(*published, true, model);
  const auto first = find([&](const Encoding& encoding) { return encoding.split == split; });
  if (first != all.end()) apply(*first, false, model);
}

BosAndEos bos_and_eos_of(const std::vector<AddedToken>& added) {
  BosAndEos ids{first_of(kBosNames, added), first_of(kEosNames, added)};
  if (ids.bos < 0) ids.bos = ids.eos;
  if (ids.eos < 0) ids.eos = ids.bos;
  return ids;
}

}  // namespace ingot
