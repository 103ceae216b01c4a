// Folders of shards mixed into train, valid and test of exactly so many tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/storage.h"
#include "shards/mix_contents.h"
#include "shards/shard_writer.h"
#include "spec/settings/settings.h"

namespace ingot {

enum class WhenShort { Error, Renormalize };
inline constexpr double kMostMixTokens = 0x1p50;

#include "spec/settings/fields.h"

struct MixSource {
#include "shards/settings/mix_source.def"
};

struct MixSettings {
#include "shards/settings/mix.def"
  std::vector<MixSource> sources;
};

#include "spec/settings/end.h"

std::vector<Setting> settings_of(MixSettings& settings);
std::vector<Setting> settings_of(MixSource& source);  // "source.path", …

// The settings as TOML, one [[source]] table each. Throws ErrorCode::Config naming file, line and
// key.
MixSettings parse_mix(std::string_view toml, std::string_view origin);

struct MixShare {
  int64_t tokens = 0, documents = 0;
  double epochs = 0;  // of what the source has for this split
};

struct MixSplit {
  std::string name;              // "train", "valid", "test"
  std::vector<MixShare> shares;  // of the sources, in their order
  ShardManifest manifest;
  int64_t cut_off_tokens = 0;  // of test and valid: the rest of cut documents, which train lacks
  double cut_off_share = 0;    // of the sources' tokens
  // Of documents that it does without, as an earlier split has some that say the same; their number
  // is in manifest.left_out.
  int64_t left_out_tokens = 0;
};

struct MixResult {
  std::vector<MixSplit> splits;
  EqualDocuments equal;  // among all sources
};

// Writes the splits that have tokens as folders below `folder`. A keyed permutation of a source's
// documents decides which go where: the first to test, the next to valid, those after to train; so
// no document is in two splits, nor are two that say the same: what test has is not put into valid
// or train, what valid has not into train. Who enlarges train keeps the others. Each source gives
// exactly its share: the last document that it gives to a split is cut at its end, and the rest of
// it is in no split; a new folder is refused where that is more than settings.max_cut_share. In a
// split the sources' documents alternate in proportion, each source's in the order it has them;
// documents keep ids and source names. A split that was finished before is kept, one that was not
// is begun again. Throws ErrorCode::Config where a source cannot give its share, saying what would
// help, and, for a new folder, where two sources hold the same. Memory does not grow with the
// shards. `progress`, may be empty, is called with the tokens written, by one thread at a time.
MixResult mix(std::shared_ptr<Storage> storage, const MixSettings& settings,
              const std::string& folder, int64_t threads,
              const std::function<void(int64_t tokens)>& progress);

}  // namespace ingot
