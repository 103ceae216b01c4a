#include "shards/mix/contents.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "core/json/json_member.h"
#include "ledger/records/task_records.h"
#include "ledger/task_folder.h"
#include "shards/duplicates.h"

namespace ingot {
namespace {

using nlohmann::json;

constexpr int64_t kSortBytes = int64_t{1} << 30;

// Equal for the same documents in any order.
using ContentSum = std::tuple<uint64_t, uint64_t>;
ContentSum sum_of(const ShardFolder& source) {
  uint64_t low = 0, high = 0;
  for (int64_t i = 0; i < source.num_documents(); ++i) {
    const ContentId content = source.content(i);
    low += content.low;
    high += content.high;
  }
  return {low, high};
}

}  // namespace

std::string equal_sources(const std::vector<const ShardFolder*>& sources) {
  std::map<std::tuple<int64_t, int64_t>, std::vector<const ShardFolder*>> by_size;
  for (const ShardFolder* source : sources) {
    by_size[{source->num_documents(), source->manifest().num_tokens()}].push_back(source);
  }
  for (const auto& [size, candidates] : by_size) {
    std::map<ContentSum, const ShardFolder*> by_content;
    for (const ShardFolder* source : candidates) {
      if (candidates.size() == 1) break;
      const ShardFolder* first = by_content.emplace(sum_of(*source), source).first->second;
      if (first == source) continue;
      return fmt::format(
          "{} and {} hold the same documents: name one of them, with the weight of "
          "both, and with max_epochs = 2 where they are to be in train twice",
          first->path(), source->path());
    }
  }
  return "";
}

EqualDocuments equal_documents(Storage& storage, const std::vector<const ShardFolder*>& sources,
                               const std::string& path) {
  if (storage.exists(path)) {
    try {
      const auto kept =
          read_task_record<EqualDocumentsRecord>(json::parse(read_text(storage, path)));
      return {kept.documents, kept.examples, kept.ids, kept.id_examples};
    } catch (const json::exception&) {
    } catch (const MemberError&) {
      // Found anew, as with one that is no JSON.
    }
  }
  std::vector<ShardsIn> shards;
  for (const ShardFolder* source : sources) shards.push_back({source->path(), &source->manifest()});
  const auto find = [&](DocumentKey key) {
    return find_duplicate_documents(storage, shards, key, kSortBytes, path + ".tmp");
  };
  const DuplicateDocuments contents = find(DocumentKey::Content), ids = find(DocumentKey::Id);
  const int64_t both = ids.count == 0 ? 0 : find(DocumentKey::IdAndContent).count;
  EqualDocuments equal{contents.count, contents.examples, ids.count - both, {}};
  if (both == 0) equal.id_examples = ids.examples;  // else they may be of equal documents
  const json kept = task_record(
      EqualDocumentsRecord{equal.documents, equal.examples, equal.ids, equal.id_examples});
  publish_file(storage, path, kept.dump() + "\n");
  return equal;
}

}  // namespace ingot
