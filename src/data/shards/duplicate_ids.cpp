#include "data/shards/duplicate_ids.h"

#include <algorithm>

#include "core/error.h"
#include "data/shards/shard_reader.h"

namespace ingot {
namespace {

constexpr size_t kMaxExamples = 3;
constexpr size_t kBufferedIds = 4096;  // of each part, while they are written

class Duplicates {
 public:
  void add_sorted(std::vector<DocumentId> ids) {
    std::sort(ids.begin(), ids.end());
    for (size_t i = 1; i < ids.size(); ++i) {
      if (ids[i] != ids[i - 1]) continue;
      ++count;
      const bool is_new = examples.empty() || examples.back() != ids[i];
      if (is_new && examples.size() < kMaxExamples) examples.push_back(ids[i]);
    }
  }
  int64_t count = 0;
  std::vector<DocumentId> examples;
};

template <class F>
void for_each_document(const std::string& folder, const ShardManifest& manifest, const F& f) {
  for (size_t shard = 0; shard < manifest.shards.size(); ++shard) {
    const ShardReader reader(folder, manifest, shard);
    for (int64_t i = 0; i < reader.num_documents(); ++i) f(reader, i);
  }
}

// Equal ids fall into the same part: it is the top bits of the hash that they are.
void sort_in_parts(Storage& storage, const std::string& folder, const ShardManifest& manifest,
                   size_t num_parts, const std::string& aside, Duplicates& duplicates) {
  if (storage.exists(aside)) storage.remove(aside);
  storage.make_directories(aside);
  const auto part_path = [&](size_t part) { return join_path(aside, std::to_string(part)); };
  {
    struct Part {
      std::unique_ptr<WritableFile> file;
      std::vector<DocumentId> ids;
      void flush() {
        file->append(std::as_bytes(std::span(ids)));
        ids.clear();
      }
    };
    std::vector<Part> parts(num_parts);
    for (size_t i = 0; i < num_parts; ++i) parts[i].file = storage.create(part_path(i));
    for_each_document(folder, manifest, [&](const ShardReader& shard, int64_t i) {
      const DocumentId id = shard.id(i);
      Part& part = parts[static_cast<size_t>((id.high >> 32) * num_parts >> 32)];
      part.ids.push_back(id);
      if (part.ids.size() == kBufferedIds) part.flush();
    });
    for (Part& part : parts) part.flush();
  }
  for (size_t i = 0; i < num_parts; ++i) {
    const auto file = storage.open(part_path(i));
    std::vector<DocumentId> ids(static_cast<size_t>(file->size()) / sizeof(DocumentId));
    file->read(0, std::as_writable_bytes(std::span(ids)));
    duplicates.add_sorted(std::move(ids));
  }
  storage.remove(aside);
}

}  // namespace

DuplicateIds find_duplicate_ids(Storage& storage, const std::string& folder,
                                const ShardManifest& manifest, int64_t memory_bytes,
                                const std::string& aside) {
  const int64_t bytes = manifest.num_documents() * static_cast<int64_t>(sizeof(DocumentId));
  Duplicates duplicates;
  if (bytes <= memory_bytes) {
    std::vector<DocumentId> ids;
    ids.reserve(static_cast<size_t>(manifest.num_documents()));
    for_each_document(folder, manifest,
                      [&](const ShardReader& shard, int64_t i) { ids.push_back(shard.id(i)); });
    duplicates.add_sorted(std::move(ids));
  } else {
    // Parts of half the memory: hashes spread evenly, but not exactly so.
    const int64_t num_parts = bytes / std::max<int64_t>(1, memory_bytes / 2) + 1;
    sort_in_parts(storage, folder, manifest, static_cast<size_t>(num_parts), aside, duplicates);
  }

  DuplicateIds result{duplicates.count, {}};
  std::vector<DocumentId> wanted = duplicates.examples;
  if (wanted.empty()) return result;
  for_each_document(folder, manifest, [&](const ShardReader& shard, int64_t i) {
    const auto found = std::find(wanted.begin(), wanted.end(), shard.id(i));
    if (found == wanted.end()) return;
    wanted.erase(found);
    const DocumentName name = shard.name(i);
    result.examples.push_back(
        fmt::format("{}: {}", manifest.sources[static_cast<size_t>(name.source)].name, name.id));
  });
  return result;
}

}  // namespace ingot
