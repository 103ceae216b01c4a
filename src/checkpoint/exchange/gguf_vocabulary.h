// What the metadata of a GGUF file says of text: the tokenizer, the chat template, which ids end a
// text.
#pragma once

#include "checkpoint/checkpoint.h"
#include "checkpoint/exchange/gguf_header.h"

namespace ingot {

// Without the tokenizer's tokens unless asked for, and without an origin. A tokenizer gives the ids
// that llama.cpp does. Throws ErrorCode::Data, naming the key, for one that is not known here.
Companions gguf_companions(const GgufHeader& header, bool with_tokenizer);

}  // namespace ingot
