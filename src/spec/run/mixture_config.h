// A mixture of sources: a .toml file named by data.train.
//
//   [[source]]
//   path = "shards/web"
//   weight = 0.7
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/settings/settings.h"

namespace ingot {

#include "spec/settings/fields.h"

struct MixtureSource {
#include "spec/settings/source.def"
};

#include "spec/settings/end.h"

std::vector<Setting> settings_of(MixtureSource& source);  // "source.path", …

// Returns at least one source. Throws ErrorCode::Config naming file, line and key.
std::vector<MixtureSource> parse_mixture(std::string_view toml, std::string_view origin);

}  // namespace ingot
