// Documents that stand in several sources, found by what they say, whatever they are called.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shards/token_source.h"

namespace ingot {

inline constexpr int64_t kMostTokensRead = int64_t{1} << 28;
inline constexpr size_t kMostHashesKept = size_t{1} << 22;

// A source among those compared, as users know it.
struct NamedSource {
  std::string name;
  const TokenSource* source = nullptr;
};

// Documents of one source that another has too.
struct Overlap {
  size_t of = 0, in = 0;  // numbers of the sources, of != in
  int64_t documents = 0;  // of `of`; about, where many documents were sampled
  bool all = false;       // every document of `of`, or equal tokens throughout
};

// Of all pairs, both ways round. Reads recorded hashes, or tokens where a source has none and not
// more than kMostTokensRead of them; sources that would take more are compared as a whole alone.
// Memory is bounded: of more than kMostHashesKept documents a sample is compared, by their hashes.
std::vector<Overlap> overlaps_among(std::span<const NamedSource> sources);

// What is held out and trained on too.
struct SharedDocuments {
  struct Place {
    std::string source, document;  // names
  };
  int64_t documents = 0;    // of the held out ones
  int64_t of = 0;           // of so many that were looked for
  Place held_out, trained;  // of the first that was found
  // Sources of which not every document was looked at: more than kMostTokensRead tokens or
  // kMostHashesKept documents.
  std::vector<std::string> not_compared;
};

// Looks for each document of `held_out` in `trained`. Of sources that record no hashes, the
// documents that are as long as one of the others are read.
SharedDocuments documents_in_both(std::span<const NamedSource> held_out,
                                  std::span<const NamedSource> trained);

}  // namespace ingot
