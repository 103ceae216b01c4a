// Whatever a run may be trained on, opened by its path.
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
//  - text (text_files.h says which files are) is encoded by the tokenizer, one document a file,
//    each followed by EOS; must be valid UTF-8. The tokenizer "byte" uses the bytes where they lie;
//    for others the ids are kept, and text above kMaxEncodedTextBytes (text_source.h) is refused
//  - *.bin with a Megatron index (*.idx) beside it: as the index says
//  - *.bin: raw little-endian u16 or u32 ids as `token_dtype` says (Auto: llm.c's header if
//    there is one, else u16)
// Throws ErrorCode::Data with one clear line for: missing, empty, documents that are no plain text,
// not UTF-8 (with the byte offset), truncated (size not a multiple of the id size, or other than
// its header says), ids ≥ vocab. `tokenizer`, which must be the one that made the shards, is used
// only during the call.
std::unique_ptr<TokenSource> open_token_source(const std::string& path, const Tokenizer& tokenizer,
                                               TokenDType token_dtype, int64_t vocab,
                                               const TextChoice& text = {});

}  // namespace ingot
