// Cleaning as a user declares it: settings, and the files of what they need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/storage.h"
#include "ingest/clean/cleaner.h"
#include "spec/settings.h"

namespace ingot {

// Paths; empty: none.
struct CleanFiles {
  std::string punkt;           // folder: nltk_data's tokenizers/punkt_tab/english
  std::string language_model;  // fastText's .bin
  std::string bad_words;
  std::string domains, urls, url_words, url_soft_words, url_subwords, public_suffixes;
};

struct CleanConfig {
  CleanSettings settings = clean_preset("datatrove-0.10");
  CleanFiles files;
};

// The declarations, bound to `config`, which must outlive them. Lists are text with spaces between
// the entries; n-gram limits are «n:share».
std::vector<Setting> settings_of(CleanConfig& config);

// The preset, then the TOML text, then the overrides; throws ErrorCode::Config.
CleanConfig parse_clean_config(std::string_view toml, std::string_view origin,
                               const Overrides& overrides);
std::string to_toml(const CleanConfig& config);  // every setting; parses back to the same

// Reads what the config names; a file alone does not switch its filter on.
struct LoadedCleanResources {
  CleanResources resources;
  uint64_t hash = 0;  // XXH3-64 of all that was read
};
LoadedCleanResources load_clean_resources(Storage& storage, const CleanConfig& config);

}  // namespace ingot
