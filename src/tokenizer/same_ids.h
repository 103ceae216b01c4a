// Compares two tokenizers by the ids they give, whatever their file formats.
#pragma once

#include <string>

#include "tokenizer/tokenizer.h"

namespace ingot {

// How `is` differs from `was`: an id with another text, or a text with other ids; empty if there is
// no difference. The sets of ids without text (special tokens and unused ids) may differ. Compares
// every id, and the encodings of texts built from all of them.
std::string id_difference(const Tokenizer& was, const Tokenizer& is);

}  // namespace ingot
