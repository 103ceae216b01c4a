// Finds passages of one source word for word in another. Comparing documents (same_content.h) does
// not find these if one side does not know its documents or cuts them at other places.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "feed/same_content.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

inline constexpr int64_t kPassageTokens = 64;
inline constexpr int64_t kPassagesLookedFor = 256;  // at most, per source

struct PassageCounts {
  std::vector<int64_t> looked_for;          // passages of each source
  std::vector<std::vector<int64_t>> found;  // [source][where]
  std::vector<std::string> not_read;        // sources in `where` beyond kMostTokensRead in all
};

// Takes passages evenly from each source, except passages of few different tokens, and looks for
// them in `where`. A source is not compared with itself. Line ends are ignored, so that lines may
// end in LF or CR LF; `tokenizer` says which ids are line ends.
PassageCounts same_passages(std::span<const NamedSource> sources,
                            std::span<const NamedSource> where, const Tokenizer& tokenizer);

// Whether the source has a recorded hash of every document, so that passages need not be compared.
bool records_documents(const TokenSource& source);

}  // namespace ingot
