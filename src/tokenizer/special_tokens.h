// What files leave unsaid and everybody knows: pattern and specials of published encodings, and
// which tokens begin and end a text.
#pragma once

#include <string_view>

#include "tokenizer/bpe/model.h"

namespace ingot {

// Sets the pattern, adds the special tokens and sets BOS and EOS as a published encoding has them
// ("cl100k_base"); false, and nothing done, when the name is not one, or `model`, which has ranks
// alone, has another number of them: a file is not what its name says.
bool apply_encoding(std::string_view name, BpeModel& model);
// How many ranks a published encoding has; 0: the name is not one.
size_t ranks_of_encoding(std::string_view name);
// The same by a pattern, which may be that of several encodings: where one has as many ranks as the
// model, its ids are the published ones, else the first one's tokens follow the ranks. Split::None
// brings none.
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

// By the published names among the special tokens. Where there is one separator only, it is both.
BosAndEos bos_and_eos_of(const std::vector<AddedToken>& added);

// What tokenizer_config.json, the file beside tokenizer.json, says of them; else `otherwise`.
BosAndEos bos_and_eos_in_config(std::string_view file, const std::vector<AddedToken>& added,
                                BosAndEos otherwise, std::string_view origin);

}  // namespace ingot
