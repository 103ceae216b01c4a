// A mixture: what data.train names when it is a .toml file.
//
//   [[source]]
//   path = "shards/web"        # anything that data.train may name, but a mixture; begins
//                              # in the folder of this file
//   weight = 0.7               # share of the samples, relative to the other weights
//   max_epochs = 1             # optional: a run that would pass over it more often is refused
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot {

struct MixtureSource {
  std::string path;
  double weight = 1.0;
  double max_epochs = 0.0;  // 0: no limit
};

// At least one source. Throws ErrorCode::Config naming file, line and key.
std::vector<MixtureSource> parse_mixture(std::string_view toml, std::string_view origin);

}  // namespace ingot
