// Opens training data of any kind by its path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "feed/text_files.h"
#include "shards/token_source.h"
#include "spec/model/token_dtype.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Whether `path` holds token ids (shards or a token file) rather than text.
bool holds_tokens(const std::string& path);

// Opens `path`: a text file, a folder of .txt (read in name order, recursively), a folder of token
// shards (shard_source.h), or a token file.
//  - text (text_files.h says which files): the tokenizer encodes each file as one document with EOS
//    after it. The text must be valid UTF-8. The tokenizer "byte" reads the bytes in place; other
//    tokenizers keep the ids in memory and refuse text above kMaxEncodedTextBytes (text_source.h)
//  - *.bin with a Megatron index (*.idx) beside it: as the index says
//  - *.bin: raw little-endian ids, u16 or u32 as `token_dtype` says (Auto: what llm.c's header says
//    if there is one, else u16)
// Throws ErrorCode::Data, in one line, if a file is missing, empty, no plain text, not UTF-8 (with
// the byte offset) or truncated (its size is no multiple of the id size, or not what its header
// says), or if an id is ≥ vocab. For shards `tokenizer` is the one that made them. It is used only
// during the call.
std::unique_ptr<TokenSource> open_token_source(const std::string& path, const Tokenizer& tokenizer,
                                               TokenDType token_dtype, int64_t vocab,
                                               const TextChoice& text = {});

}  // namespace ingot
