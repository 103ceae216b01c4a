// Is a folder of shards what its manifest says?
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shards/manifest.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Reads every byte: checksums, ids below the vocabulary, document ends that ascend, BOS and EOS
// exactly once per document, names that give the documents' ids, sums per source. Returns one line
// for each thing that is wrong, at most one per shard; empty: all is well. `progress`, may be
// empty, is called with tokens done, by one thread at a time.
std::vector<std::string> verify_shards(const std::string& folder, const ShardManifest& manifest,
                                       int64_t threads,
                                       const std::function<void(int64_t tokens)>& progress);

}  // namespace ingot
