// Text files as a source of tokens: each file is one document, followed by EOS.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "feed/text_files.h"
#include "shards/token_source.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// The most text for a tokenizer other than "byte": it encodes all text when the source is opened
// and keeps the ids in memory, 4 bytes each, at most one per byte and one per file.
inline constexpr int64_t kMaxEncodedTextBytes = int64_t{512} << 20;

// `path` is a text file or a folder; text_files() says which files of it are read.
std::unique_ptr<TokenSource> open_text(const std::string& path, const Tokenizer& tokenizer,
                                       const TextChoice& choice);

}  // namespace ingot
