// Contents of a mixture's documents: keeps equal documents out of different splits and finds equal
// sources.
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

// The contents of finished splits, which later splits leave out. Memory grows with these splits
// (test and valid), not with the sources.
class TakenContents {
 public:
  void add(const ContentId& content, const std::string& split) { splits_.emplace(content, split); }
  bool empty() const { return splits_.empty(); }
  // The split that contains it; null: none.
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

// Describes two folders with the same documents, in whatever order and shards, with advice; empty:
// there are none. Contents are compared only if the numbers of documents and tokens are equal.
std::string equal_sources(const std::vector<const ShardFolder*>& sources);

// The overlap of several sources.
struct EqualDocuments {
  int64_t documents = 0;              // equal to an earlier document
  std::vector<std::string> examples;  // of them
  int64_t ids = 0;                    // documents with an earlier one's id and other contents
  std::vector<std::string> id_examples;
};
// Cached in the file `path`; sorts like find_duplicate_documents(), in PATH.tmp.
EqualDocuments equal_documents(Storage& storage, const std::vector<const ShardFolder*>& sources,
                               const std::string& path);

}  // namespace ingot
