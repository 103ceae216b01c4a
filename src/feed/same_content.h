// Finds documents that several sources contain, by their content, not by their names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shards/token_source.h"

namespace ingot {

inline constexpr int64_t kMostTokensRead = int64_t{1} << 28;
inline constexpr size_t kMostHashesKept = size_t{1} << 22;

// A source to compare, with the name that users know.
struct NamedSource {
  std::string name;
  const TokenSource* source = nullptr;
};

// Documents of one source that another source contains too.
struct Overlap {
  size_t of = 0, in = 0;  // numbers of the two sources, of != in
  int64_t documents = 0;  // documents of `of` that are in `in`; an estimate if they were sampled
  bool all = false;       // `in` contains every document of `of`, or equals it token by token
};

// The overlaps of all pairs, in both directions. Compares recorded hashes. If a source has none, it
// reads its tokens, up to kMostTokensRead of them, or else compares it only as a whole. Memory
// is bounded: of more than kMostHashesKept documents a sample is compared, chosen by their hashes.
std::vector<Overlap> overlaps_among(std::span<const NamedSource> sources);

// Documents that are held out and also trained on.
struct SharedDocuments {
  struct Place {
    std::string source, document;  // names
  };
  int64_t documents = 0;    // held-out documents that were found
  int64_t of = 0;           // held-out documents that were looked for
  Place held_out, trained;  // both places of the first one found
  // Sources whose documents were not all compared: they have more than kMostTokensRead tokens or
  // kMostHashesKept documents.
  std::vector<std::string> not_compared;
};

// Looks for each document of `held_out` in `trained`. In sources without recorded hashes it reads
// the documents whose length occurs on the other side.
SharedDocuments documents_in_both(std::span<const NamedSource> held_out,
                                  std::span<const NamedSource> trained);

}  // namespace ingot
