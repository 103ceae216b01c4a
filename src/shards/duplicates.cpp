#include "shards/duplicates.h"

#include <xxhash.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "core/error/error.h"
#include "shards/shard_reader.h"

namespace ingot {
namespace {

constexpr size_t kMaxExamples = 3;
constexpr size_t kBufferedKeys = 4096;  // of each part, while they are written
constexpr int64_t kMostParts = 512;     // open at the same time
constexpr int64_t kRecordsAtOnce = 1 << 14;

struct Key {
  uint64_t low = 0, high = 0;
  auto operator<=>(const Key&) const = default;
};

Key joined(const DocumentId& id, const ContentId& content) {
  const uint64_t parts[] = {id.low, id.high, content.low, content.high};
  const XXH128_hash_t hash = XXH3_128bits(parts, sizeof parts);
  return {hash.low64, hash.high64};
}

class SortedKeys {
 public:
  void add(std::vector<Key> keys) {
    std::sort(keys.begin(), keys.end());
    for (size_t i = 1; i < keys.size(); ++i) {
      if (keys[i] != keys[i - 1]) continue;
      ++count;
      const bool is_new = examples.empty() || examples.back() != keys[i];
      if (is_new && examples.size() < kMaxExamples) examples.push_back(keys[i]);
    }
  }
  int64_t count = 0;
  std::vector<Key> examples;
};

// The keys of one shard, some documents at a time; reads no more than they are made of.
class KeyReader {
 public:
  KeyReader(Storage& storage, const ShardsIn& shards, size_t shard, DocumentKey key) : key_(key) {
    const ShardFile& file = shards.manifest->shards[shard];
    const std::string path = join_path(shards.folder, file.name);
    if (key != DocumentKey::Content) documents_ = storage.open(path + ".documents");
    if (key == DocumentKey::Id) return;
    if (file.hashes_hash) {
      hashes_ = storage.open(path + ".hashes");
    } else {
      reader_ = std::make_unique<ShardReader>(shards.folder, *shards.manifest, shard);
    }
  }

  void read(int64_t at, int64_t count, std::vector<Key>& keys) {
    const auto number = static_cast<size_t>(count);
    records_.resize(number);
    contents_.resize(number);
    if (documents_) read(*documents_, at, records_);
    if (hashes_) read(*hashes_, at, contents_);
    keys.resize(number);
    for (size_t i = 0; i < number; ++i) {
      if (reader_) contents_[i] = reader_->content(at + static_cast<int64_t>(i));
      const DocumentId& id = records_[i].id;
      const ContentId& content = contents_[i];
      keys[i] = key_ == DocumentKey::Id        ? Key{id.low, id.high}
                : key_ == DocumentKey::Content ? Key{content.low, content.high}
                                               : joined(id, content);
    }
  }

 private:
  template <class Record>
  static void read(const ReadableFile& file, int64_t at, std::vector<Record>& records) {
    file.read(at * static_cast<int64_t>(sizeof(Record)),
              std::as_writable_bytes(std::span(records)));
  }

  DocumentKey key_;
  std::unique_ptr<ReadableFile> documents_, hashes_;
  std::unique_ptr<ShardReader> reader_;  // where contents are made from tokens
  std::vector<DocumentRecord> records_;
  std::vector<ContentId> contents_;
};

struct Place {
  const ShardsIn* shards;
  size_t shard;
  int64_t document;
};

std::string name_of(const Place& place) {
  const ShardManifest& manifest = *place.shards->manifest;
  const DocumentName name =
      ShardReader(place.shards->folder, manifest, place.shard).name(place.document);
  return fmt::format("{}: {}", manifest.sources[static_cast<size_t>(name.source)].name, name.id);
}

class Documents {
 public:
  Documents(Storage& storage, const std::vector<ShardsIn>& shards, DocumentKey key)
      : storage_(storage), shards_(shards), key_(key) {}

  int64_t count() const {
    int64_t count = 0;
    for (const ShardsIn& shards : shards_) count += shards.manifest->num_documents();
    return count;
  }

  template <class F>
  void for_each(const F& f) const {  // f(place, key)
    std::vector<Key> keys;
    for (const ShardsIn& shards : shards_) {
      for (size_t shard = 0; shard < shards.manifest->shards.size(); ++shard) {
        const int64_t count = shards.manifest->shards[shard].num_documents;
        KeyReader reader(storage_, shards, shard, key_);
        for (int64_t at = 0; at < count; at += kRecordsAtOnce) {
          reader.read(at, std::min(kRecordsAtOnce, count - at), keys);
          for (size_t i = 0; i < keys.size(); ++i) {
            f(Place{&shards, shard, at + static_cast<int64_t>(i)}, keys[i]);
          }
        }
      }
    }
  }

 private:
  Storage& storage_;
  const std::vector<ShardsIn>& shards_;
  DocumentKey key_;
};

// Equal keys fall into the same part: it is the top bits of the hash that they are.
void sort_in_parts(Storage& storage, const Documents& documents, size_t num_parts,
                   const std::string& aside, SortedKeys& sorted) {
  if (storage.exists(aside)) storage.remove(aside);
  storage.make_directories(aside);
  const auto part_path = [&](size_t part) { return join_path(aside, std::to_string(part)); };
  {
    struct Part {
      std::unique_ptr<WritableFile> file;
      std::vector<Key> keys;
      void flush() {
        file->append(std::as_bytes(std::span(keys)));
        keys.clear();
      }
    };
    std::vector<Part> parts(num_parts);
    for (size_t i = 0; i < num_parts; ++i) parts[i].file = storage.create(part_path(i));
    documents.for_each([&](const Place&, const Key& key) {
      Part& part = parts[static_cast<size_t>((key.high >> 32) * num_parts >> 32)];
      part.keys.push_back(key);
      if (part.keys.size() == kBufferedKeys) part.flush();
    });
    for (Part& part : parts) part.flush();
  }
  for (size_t i = 0; i < num_parts; ++i) {
    const auto file = storage.open(part_path(i));
    std::vector<Key> keys(static_cast<size_t>(file->size()) / sizeof(Key));
    file->read(0, std::as_writable_bytes(std::span(keys)));
    sorted.add(std::move(keys));
  }
  storage.remove(aside);
}

std::vector<std::string> names_of(const Documents& documents, const std::vector<Key>& examples) {
  std::map<Key, std::vector<std::string>> names;  // of the first two
  for (const Key& key : examples) names[key];
  size_t missing = 2 * examples.size();
  documents.for_each([&](const Place& place, const Key& key) {
    if (missing == 0) return;
    const auto found = names.find(key);
    if (found == names.end() || found->second.size() == 2) return;
    found->second.push_back(name_of(place));
    --missing;
  });
  std::vector<std::string> texts;
  for (const auto& [key, two] : names) {
    texts.push_back(two[0] == two[1] ? two[0] : fmt::format("{} = {}", two[0], two[1]));
  }
  return texts;
}

}  // namespace

DuplicateDocuments find_duplicate_documents(Storage& storage, const std::vector<ShardsIn>& shards,
                                            DocumentKey key, int64_t memory_bytes,
                                            const std::string& aside) {
  const Documents documents(storage, shards, key);
  const int64_t bytes = documents.count() * static_cast<int64_t>(sizeof(Key));
  SortedKeys sorted;
  if (bytes <= memory_bytes) {
    std::vector<Key> keys;
    keys.reserve(static_cast<size_t>(documents.count()));
    documents.for_each([&](const Place&, const Key& one) { keys.push_back(one); });
    sorted.add(std::move(keys));
  } else {
    // Parts of half the memory: hashes spread evenly, but not exactly so.
    const int64_t num_parts =
        std::min(bytes / std::max<int64_t>(1, memory_bytes / 2) + 1, kMostParts);
    sort_in_parts(storage, documents, static_cast<size_t>(num_parts), aside, sorted);
  }
  if (sorted.examples.empty()) return {};
  return {sorted.count, names_of(documents, sorted.examples)};
}

}  // namespace ingot
