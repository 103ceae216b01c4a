// Mixes folders of shards into train, valid and test splits with exact token counts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/storage.h"
#include "shards/mix/contents.h"
#include "shards/shard_writer.h"
#include "spec/settings/settings.h"

namespace ingot {

enum class WhenShort { Error, Renormalize };
inline constexpr double kMostMixTokens = 0x1p50;

#include "spec/settings/fields.h"

struct MixSource {
#include "shards/mix/mix_source.def"
};

struct MixSettings {
#include "shards/mix/mix.def"
  std::vector<MixSource> sources;
};

#include "spec/settings/end.h"

std::vector<Setting> settings_of(MixSettings& settings);
std::vector<Setting> settings_of(MixSource& source);  // "source.path", …

// Parses TOML settings with one [[source]] table each. Throws ErrorCode::Config naming file, line
// and key.
MixSettings parse_mix(std::string_view toml, std::string_view origin);

struct MixShare {
  int64_t tokens = 0, documents = 0;
  double epochs = 0;  // passes over the source's documents for this split
};

struct MixSplit {
  std::string name;              // "train", "valid", "test"
  std::vector<MixShare> shares;  // of the sources, in their order
  ShardManifest manifest;
  int64_t cut_off_tokens = 0;  // test and valid: rests of cut documents, not in train either
  double cut_off_share = 0;    // of the sources' tokens
  // Documents left out because an earlier split has equal ones; their number is in
  // manifest.left_out.
  int64_t left_out_tokens = 0;
};

struct MixResult {
  std::vector<MixSplit> splits;
  EqualDocuments equal;  // among all sources
};

// Writes the non-empty splits as folders below `folder`. A keyed permutation of each source's
// documents assigns them: the first ones to test, the next to valid, the rest to train. No document
// is in two splits, nor are two equal ones: documents equal to one in test are left out of valid
// and train, those equal to one in valid are left out of train. Enlarging train keeps the others.
// Each source gives exactly its share: its last document in a split is cut, and the rest of it is
// in no split; a new folder is rejected if the rests exceed settings.max_cut_share. Within a split
// the sources' documents alternate in proportion, each source's in its own order; documents keep
// ids and source names. A finished split is kept, an unfinished one is started again. Throws
// ErrorCode::Config if a source cannot give its share, with advice, and, for a new folder, if two
// sources hold the same documents. Memory does not grow with the shards. `progress`, which may be
// empty, is called with the tokens written, by one thread at a time.
MixResult mix(std::shared_ptr<Storage> storage, const MixSettings& settings,
              const std::string& folder, int64_t threads,
              const std::function<void(int64_t tokens)>& progress);

}  // namespace ingot
