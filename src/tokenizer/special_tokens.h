// Well-known data that tokenizer files lack: patterns and special tokens of published encodings,
// and the tokens that begin and end a text.
#pragma once

#include <string_view>

#include "tokenizer/bpe/model.h"

namespace ingot {

// Sets pattern, special tokens, BOS and EOS of a published encoding ("cl100k_base"). False, with
// `model` unchanged, if the name is unknown or the encoding has another number of ranks than
// `model`, which has only ranks.
bool apply_encoding(std::string_view name, BpeModel& model);
// How many ranks a published encoding has; 0 if the name is unknown.
size_t ranks_of_encoding(std::string_view name);
// The same by pattern, which several encodings may share. If one of them has as many ranks as the
// model, its published ids are used; else the first one's tokens follow the ranks. Split::None adds
// none.
void apply_split(Split split, BpeModel& model);

void add_special_token(std::string_view content, int32_t id, BpeModel& model);

struct BosAndEos {
  int32_t bos = -1, eos = -1;  // ids; -1: none
  bool operator==(const BosAndEos&) const = default;
};

template <class Model>
void set_bos_and_eos(Model& model, BosAndEos ids) {
  model.bos = ids.bos;
  model.eos = ids.eos;
}

// Finds them by their published names among the special tokens. A single separator token is both.
BosAndEos bos_and_eos_of(const std::vector<AddedToken>& added);

// BOS and EOS from tokenizer_config.json, the file beside tokenizer.json; else `otherwise`.
BosAndEos bos_and_eos_in_config(std::string_view file, const std::vector<AddedToken>& added,
                                BosAndEos otherwise, std::string_view origin);

}  // namespace ingot
