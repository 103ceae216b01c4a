// Verifies a folder of shards against its manifest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shards/manifest.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Reads every byte. Checks checksums, ids below the vocabulary, ascending document ends, BOS and
// EOS exactly once per document, names that match the documents' ids, sums per source. Returns one
// line per problem, at most one per shard; empty: none. `progress`, which may be empty, is called
// with the tokens done, by one thread at a time.
std::vector<std::string> verify_shards(const std::string& folder, const ShardManifest& manifest,
                                       int64_t threads,
                                       const std::function<void(int64_t tokens)>& progress);

}  // namespace ingot
