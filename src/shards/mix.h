// Folders of shards mixed into train, valid and test of exactly so many tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage.h"
#include "shards/shard_writer.h"

namespace ingot {

struct MixSource {
  std::string path;         // a folder of shards; in the TOML file relative to that
  double weight = 1;        // of all sources' together: its share of every split
  int64_t max_epochs = 1;   // how often a document may be in train
  int64_t max_tokens = -1;  // at most so many in train; -1: no limit
};

struct MixSettings {
  uint64_t seed = 0;
  int64_t train_tokens = 0, valid_tokens = 0, test_tokens = 0;
  int64_t shard_tokens = kDefaultShardTokens;
  // What a source cannot give is asked of the others, by weight; otherwise it is an error.
  bool renormalize = false;
  std::vector<MixSource> sources;
};

// The settings as TOML, one [[source]] table each; docs/shards.md has them all. Throws
// ErrorCode::Config naming the key.
MixSettings parse_mix(std::string_view toml, std::string_view origin);

struct MixShare {
  int64_t tokens = 0, documents = 0;
  double epochs = 0;  // of what the source has for this split
};

struct MixSplit {
  std::string name;              // "train", "valid", "test"
  std::vector<MixShare> shares;  // of the sources, in their order
  ShardManifest manifest;
};

// Writes the splits that have tokens as folders below `folder`. A keyed permutation of a source's
// documents decides which go where: the first to test, the next to valid, those after to train; so
// no document is in two splits, and who enlarges train keeps the others. Each source gives exactly
// its share: the last document that it gives to a split is cut at its end. In a split the sources'
// documents alternate in proportion, each source's in the order it has them; documents keep ids and
// source names. A split that was finished before is kept, one that was not is begun again. Throws
// ErrorCode::Config where a source cannot give its share, saying what would help. Memory does not
// grow with the shards. `progress`, may be empty, is called with the tokens written, by one thread
// at a time.
std::vector<MixSplit> mix(std::shared_ptr<Storage> storage, const MixSettings& settings,
                          const std::string& folder, int64_t threads,
                          const std::function<void(int64_t tokens)>& progress);

}  // namespace ingot
