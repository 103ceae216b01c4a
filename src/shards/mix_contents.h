// What documents of a mixture say: so that none is in two splits, and no source is two.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/storage/storage.h"
#include "shards/shard_folder.h"

namespace ingot {

// The contents of splits that were filled, which the next ones do without. Memory grows with these
// splits, test and valid, not with the sources.
class TakenContents {
 public:
  void add(const ContentId& content, const std::string& split) { splits_.emplace(content, split); }
  bool empty() const { return splits_.empty(); }
  // The split that has it; null: none.
  const std::string* split_of(const ContentId& content) const {
    const auto found = splits_.find(content);
    return found == splits_.end() ? nullptr : &found->second;
  }

 private:
  struct Hash {
    size_t operator()(const ContentId& content) const { return content.low; }
  };
  std::unordered_map<ContentId, std::string, Hash> splits_;
};

// Two folders that hold the same documents, in whatever order and shards, as a sentence that says
// what to do; empty: there are none. Contents are compared where numbers of documents and tokens
// are equal.
std::string equal_sources(const std::vector<const ShardFolder*>& sources);

// What several sources have in common.
struct EqualDocuments {
  int64_t documents = 0;              // that say what an earlier one does
  std::vector<std::string> examples;  // of them
  int64_t ids = 0;  // documents that have an earlier one's id and say something else
  std::vector<std::string> id_examples;
};
// Kept in the file `path` once it is known; sorts as find_duplicate_documents() does, aside in
// PATH.tmp.
EqualDocuments equal_documents(Storage& storage, const std::vector<const ShardFolder*>& sources,
                               const std::string& path);

}  // namespace ingot
