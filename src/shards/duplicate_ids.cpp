#include "shards/duplicate_ids.h"

#include <algorithm>

#include "core/error.h"
#include "shards/shard_reader.h"

namespace ingot {
namespace {

constexpr size_t kMaxExamples = 3;
constexpr size_t kBufferedIds = 4096;  // of each part, while they are written
constexpr int64_t kMostParts = 512;    // open at the same time

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

// Calls f(shard, document, id). Reads the records only, not what they are records of.
template <class F>
void for_each_document(Storage& storage, const std::string& folder, const ShardManifest& manifest,
                       const F& f) {
  constexpr int64_t kRecordsAtOnce = 1 << 14;
  std::vector<DocumentRecord> records;
  for (size_t shard = 0; shard < manifest.shards.size(); ++shard) {
    const int64_t count = manifest.shards[shard].num_documents;
    const auto file = storage.open(join_path(folder, manifest.shards[shard].name + ".documents"));
    for (int64_t at = 0; at < count; at += kRecordsAtOnce) {
      records.resize(static_cast<size_t>(std::min(kRecordsAtOnce, count - at)));
      file->read(at * static_cast<int64_t>(sizeof(DocumentRecord)),
                 std::as_writable_bytes(std::span(records)));
      for (size_t i = 0; i < records.size(); ++i) {
        f(shard, at + static_cast<int64_t>(i), records[i].id);
      }
    }
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
    for_each_document(storage, folder, manifest, [&](size_t, int64_t, DocumentId id) {
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
    for_each_document(storage, folder, manifest,
                      [&](size_t, int64_t, DocumentId id) { ids.push_back(id); });
    duplicates.add_sorted(std::move(ids));
  } else {
    // Parts of half the memory: hashes spread evenly, but not exactly so.
    const int64_t num_parts =
        std::min(bytes / std::max<int64_t>(1, memory_bytes / 2) + 1, kMostParts);
    sort_in_parts(storage, folder, manifest, static_cast<size_t>(num_parts), aside, duplicates);
  }

  DuplicateIds result{duplicates.count, {}};
  std::vector<DocumentId> wanted = duplicates.examples;
  if (wanted.empty()) return result;
  for_each_document(storage, folder, manifest, [&](size_t shard, int64_t document, DocumentId id) {
    const auto found = std::find(wanted.begin(), wanted.end(), id);
    if (found == wanted.end()) return;
    wanted.erase(found);
    const DocumentName name = ShardReader(folder, manifest, shard).name(document);
    result.examples.push_back(
        fmt::format("{}: {}", manifest.sources[static_cast<size_t>(name.source)].name, name.id));
  });
  return result;
}

}  // namespace ingot
