// Whether two tokenizers give the same ids, in whatever formats their files are.
#pragma once

#include <string>

#include "tokenizer/tokenizer.h"

namespace ingot {

// How `is` differs from `was`: an id that stands for other text, or a text with other ids; empty
// where there is no such. Ids that stand for no text, special tokens and unused ones, may be more
// or fewer. Compares every id, and what both make of texts put together from all of them.
std::string id_difference(const Tokenizer& was, const Tokenizer& is);

}  // namespace ingot
