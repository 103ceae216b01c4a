#include "shards/folders_below.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/error/error.h"
#include "shards/manifest.h"

namespace ingot {

void check_holds_no_shard_folders(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> below;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (std::filesystem::exists(entry.path() / kShardManifestName, error))
      below.push_back(entry.path().string());
  std::sort(below.begin(), below.end());
  check(below.empty(), ErrorCode::Data,
        "{}: expected one folder of token shards, got a folder of them: name one of {}", folder,
        fmt::join(below, ", "));
}

}  // namespace ingot
