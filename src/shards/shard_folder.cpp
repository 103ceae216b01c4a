#include "shards/shard_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "core/error/error.h"

namespace ingot {

ShardFolder::ShardFolder(std::string folder)
    : path_(std::move(folder)), manifest_(read_manifest(*posix_storage(), path_)) {
  first_documents_.push_back(0);
  for (const ShardFile& shard : manifest_.shards) {
    first_documents_.push_back(first_documents_.back() + shard.num_documents);
  }
  shards_.resize(num_shards());
}

const ShardReader& ShardFolder::shard(size_t number) const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<ShardReader>& shard = shards_.at(number);
  if (!shard) shard = std::make_unique<ShardReader>(path_, manifest_, number);
  return *shard;
}

ShardFolder::Place ShardFolder::document(int64_t number) const {
  check(number >= 0 && number < num_documents(), ErrorCode::Usage,
        "{}: no document {}: expected a number from 0 to {}", path_, number, num_documents() - 1);
  const auto after = std::upper_bound(first_documents_.begin(), first_documents_.end(), number);
  const auto at = static_cast<size_t>(after - first_documents_.begin()) - 1;
  return {&shard(at), number - first_documents_[at]};
}

ContentId ShardFolder::content(int64_t number) const {
  const Place place = document(number);
  return place.shard->content(place.document);
}

std::vector<int32_t> ShardFolder::ids(int64_t number) const {
  const Place place = document(number);
  const int64_t count = place.num_tokens();
  check(count >= 0, ErrorCode::Data, "{}.documents: document {} ends before it begins",
        place.shard->path(), place.document);
  std::vector<int32_t> ids(static_cast<size_t>(count));
  place.shard->tokens(place.begin(), ids);
  return ids;
}

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
