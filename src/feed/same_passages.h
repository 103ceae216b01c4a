// Passages of one source that stand in another, word for word: what documents cannot tell where one
// side does not know them, or cut them elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "feed/same_content.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

inline constexpr int64_t kPassageTokens = 64;
inline constexpr int64_t kPassagesLookedFor = 256;  // at most, of one source

struct PassageCounts {
  std::vector<int64_t> looked_for;          // of each of the sources that were given
  std::vector<std::vector<int64_t>> found;  // [source][where]
  std::vector<std::string> not_read;        // of `where`: beyond kMostTokensRead tokens in all
};

// Takes passages evenly from each source, those of few different tokens aside, and reads `where`
// for them. Sources that are the same object are not compared. Line ends do not count as tokens, so
// that lines may end in LF or CR LF; `tokenizer` tells which ids they are.
PassageCounts same_passages(std::span<const NamedSource> sources,
                            std::span<const NamedSource> where, const Tokenizer& tokenizer);

// Whether all documents of a source are known by recorded hashes, so that none of this is needed.
bool records_documents(const TokenSource& source);

}  // namespace ingot
