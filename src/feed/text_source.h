// Text as tokens: one document a file, each followed by EOS.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "feed/text_files.h"
#include "shards/token_source.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// The most text a tokenizer other than "byte" takes: its ids are made at open and kept in memory, 4
// bytes each, at most one per byte and file.
inline constexpr int64_t kMaxEncodedTextBytes = int64_t{512} << 20;

// `path` is a text file or a folder, of which text_files() says what is taken.
std::unique_ptr<TokenSource> open_text(const std::string& path, const Tokenizer& tokenizer,
                                       const TextChoice& choice);

}  // namespace ingot
