#include "shards/manifest.h"

#include <xxhash.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "core/error/error.h"
#include "core/text/hex.h"
#include "shards/shard_folder.h"
#include "tokenizer/tokenizer.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kVersion = 1;
constexpr int64_t kMost = int64_t{1} << 53;  // of any count: what JSON readers keep exactly
// So that no sum of them leaves an int64_t.
constexpr int64_t kMostInShard = int64_t{1} << 43;
constexpr size_t kMostShards = size_t{1} << 19, kMostSources = 512;

template <class Items, class Member>
int64_t sum(const Items& items, Member member) {
  return std::transform_reduce(items.begin(), items.end(), int64_t{0}, std::plus<>(),
                               [&](const auto& item) { return item.*member; });
}

// Members of one object of the manifest, with the place of each in the message.
class Reader {
 public:
  Reader(const Json& object, std::string_view origin, std::string place)
      : object_(object), origin_(origin), place_(std::move(place)) {
    check(object_.is_object(), ErrorCode::Data, "{}: {}expected an object", origin_, place_);
  }

  int64_t integer(const char* key, int64_t least, int64_t most) const {
    const Json& value = at(key);
    const bool fits = value.is_number_integer() &&
                      !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{kMost});
    const int64_t number = fits ? value.get<int64_t>() : least - 1;
    check(fits && number >= least && number <= most, ErrorCode::Data,
          "{}: {}{}: expected an integer from {} to {}", origin_, place_, key, least, most);
    return number;
  }
  std::string text(const char* key) const {
    const Json& value = at(key);
    check(value.is_string(), ErrorCode::Data, "{}: {}{}: expected a string", origin_, place_, key);
    return value.get<std::string>();
  }
  uint64_t hash(const char* key) const {
    const std::optional<uint64_t> value = parse_hex(text(key));
    check(value.has_value(), ErrorCode::Data, "{}: {}{}: expected 16 hexadecimal digits", origin_,
          place_, key);
    return *value;
  }
  std::optional<uint64_t> optional_hash(const char* key) const {
    return object_.contains(key) ? std::optional(hash(key)) : std::nullopt;
  }
  // Calls item(value, number) for each of an array.
  template <class F>
  void each(const char* key, const F& item) const {
    const Json& values = at(key);
    check(values.is_array(), ErrorCode::Data, "{}: {}{}: expected an array", origin_, place_, key);
    for (size_t i = 0; i < values.size(); ++i) item(values[i], i);
  }
  template <class F>
  void each_object(const char* key, const F& item) const {
    each(key, [&](const Json& value, size_t i) {
      item(Reader(value, origin_, fmt::format("{}{}[{}].", place_, key, i)));
    });
  }
  std::map<std::string, int64_t> counts(const char* key) const {
    std::map<std::string, int64_t> counts;
    const Reader members(at(key), origin_, fmt::format("{}{}.", place_, key));
    for (const auto& [name, value] : members.object_.items()) {
      counts[name] = members.integer(name.c_str(), 0, kMost);
    }
    return counts;
  }

 private:
  const Json& at(const char* key) const {
    const auto found = object_.find(key);
    check(found != object_.end(), ErrorCode::Data, "{}: {}{} is missing", origin_, place_, key);
    return *found;
  }

  const Json& object_;
  std::string_view origin_;
  std::string place_;
};

ShardSource parse_source(const Reader& reader) {
  return {reader.text("name"), reader.integer("num_documents", 0, kMost),
          reader.integer("num_tokens", 0, kMost), reader.integer("num_bytes", 0, kMost)};
}

ShardFile parse_shard(const Reader& reader, std::string_view origin) {
  ShardFile shard{reader.text("name"),
                  reader.integer("num_tokens", 1, kMostInShard),
                  reader.integer("num_documents", 1, kMostInShard),
                  reader.hash("tokens_hash"),
                  reader.hash("documents_hash"),
                  reader.hash("names_hash"),
                  reader.optional_hash("hashes_hash")};
  // The name becomes a path: it must stay inside the folder.
  const bool plain =
      !shard.name.empty() &&
      shard.name.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-_") == std::string::npos;
  check(plain, ErrorCode::Data,
        "{}: a shard's name: expected small letters, digits, - and _, got \"{}\"", origin,
        shard.name);
  return shard;
}

void check_sums(const ShardManifest& manifest, std::string_view origin) {
  std::set<std::string_view> names;
  for (const ShardFile& shard : manifest.shards) {
    check(names.insert(shard.name).second, ErrorCode::Data, "{}: the shard {} is listed twice",
          origin, shard.name);
  }
  const int64_t tokens = sum(manifest.sources, &ShardSource::num_tokens);
  const int64_t documents = sum(manifest.sources, &ShardSource::num_documents);
  check(tokens == manifest.num_tokens(), ErrorCode::Data,
        "{}: the shards hold {} tokens, the sources {}; expected equal sums", origin,
        manifest.num_tokens(), tokens);
  check(documents == manifest.num_documents(), ErrorCode::Data,
        "{}: the shards hold {} documents, the sources {}; expected equal sums", origin,
        manifest.num_documents(), documents);
  int64_t previous = -1;
  for (const int64_t document : manifest.cut_documents) {
    check(document > previous && document < documents, ErrorCode::Data,
          "{}: cut_documents: expected ascending numbers below {}, got {} after {}", origin,
          documents, document, previous);
    previous = document;
  }
}

ShardManifest parse(const Json& json, std::string_view origin) {
  const Reader reader(json, origin, "");
  ShardManifest manifest;
  manifest.version = reader.integer("version", 0, kMost);
  check(manifest.version == kVersion, ErrorCode::Data,
        "{}: version: expected {}, got {}; read it with a newer Ingot", origin, kVersion,
        manifest.version);
  manifest.token_bytes = reader.integer("token_bytes", 2, 4);
  check(manifest.token_bytes != 3, ErrorCode::Data, "{}: token_bytes: expected 2 or 4, got 3",
        origin);
  manifest.vocab_size =
      reader.integer("vocab_size", 1, manifest.token_bytes == 2 ? 1 << 16 : INT32_MAX);
  manifest.bos = static_cast<int32_t>(reader.integer("bos", -1, manifest.vocab_size - 1));
  manifest.eos = static_cast<int32_t>(reader.integer("eos", -1, manifest.vocab_size - 1));
  manifest.tokenizer_hash = reader.hash("tokenizer_hash");
  manifest.tokenizer_kind = reader.text("tokenizer_kind");
  reader.each_object("sources",
                     [&](const Reader& item) { manifest.sources.push_back(parse_source(item)); });
  reader.each_object(
      "shards", [&](const Reader& item) { manifest.shards.push_back(parse_shard(item, origin)); });
  reader.each("cut_documents", [&](const Json& item, size_t) {
    check(item.is_number_unsigned() && item.get<uint64_t>() <= uint64_t{kMost}, ErrorCode::Data,
          "{}: cut_documents: expected numbers", origin);
    manifest.cut_documents.push_back(item.get<int64_t>());
  });
  manifest.left_out = reader.counts("left_out");
  manifest.duplicate_ids = reader.integer("duplicate_ids", 0, kMost);
  if (json.contains("equal_documents")) {
    manifest.equal_documents = reader.integer("equal_documents", 0, kMost);
  }
  check(manifest.sources.size() <= kMostSources && manifest.shards.size() <= kMostShards,
        ErrorCode::Data, "{}: {} sources and {} shards: expected at most {} and {}", origin,
        manifest.sources.size(), manifest.shards.size(), kMostSources, kMostShards);
  return manifest;
}

}  // namespace

DocumentId document_id(std::string_view source, std::string_view id) {
  std::string key(source);
  key += '\0';
  key += id;
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return {hash.low64, hash.high64};
}

std::string to_hex(DocumentId id) {
  return hex(id.high) + hex(id.low);
}

bool parse_document_id(std::string_view text, DocumentId& id) {
  if (text.size() != 32) return false;
  const auto high = parse_hex(text.substr(0, 16)), low = parse_hex(text.substr(16));
  if (!high || !low) return false;
  id = {*low, *high};
  return true;
}

int64_t ShardManifest::num_tokens() const {
  return sum(shards, &ShardFile::num_tokens);
}

int64_t ShardManifest::num_documents() const {
  return sum(shards, &ShardFile::num_documents);
}

int64_t ShardManifest::num_bytes() const {
  return sum(sources, &ShardSource::num_bytes);
}

std::string to_json(const ShardManifest& manifest) {
  Json json = {{"version", manifest.version},
               {"token_bytes", manifest.token_bytes},
               {"vocab_size", manifest.vocab_size},
               {"bos", manifest.bos},
               {"eos", manifest.eos},
               {"tokenizer_hash", hex(manifest.tokenizer_hash)},
               {"tokenizer_kind", manifest.tokenizer_kind},
               {"sources", Json::array()},
               {"shards", Json::array()},
               {"cut_documents", manifest.cut_documents},
               {"left_out", Json::object()},
               {"duplicate_ids", manifest.duplicate_ids}};
  for (const ShardSource& source : manifest.sources) {
    json["sources"].push_back({{"name", source.name},
                               {"num_documents", source.num_documents},
                               {"num_tokens", source.num_tokens},
                               {"num_bytes", source.num_bytes}});
  }
  for (const ShardFile& shard : manifest.shards) {
    json["shards"].push_back({{"name", shard.name},
                              {"num_tokens", shard.num_tokens},
                              {"num_documents", shard.num_documents},
                              {"tokens_hash", hex(shard.tokens_hash)},
                              {"documents_hash", hex(shard.documents_hash)},
                              {"names_hash", hex(shard.names_hash)}});
    if (shard.hashes_hash) json["shards"].back()["hashes_hash"] = hex(*shard.hashes_hash);
  }
  for (const auto& [reason, count] : manifest.left_out) json["left_out"][reason] = count;
  if (manifest.equal_documents > 0) json["equal_documents"] = manifest.equal_documents;
  return json.dump(2) + "\n";
}

ShardManifest parse_manifest(std::string_view text, std::string_view origin) {
  const Json json = Json::parse(text, nullptr, false);
  check(!json.is_discarded(), ErrorCode::Data, "{}: not JSON; expected a shard manifest", origin);
  const ShardManifest manifest = parse(json, origin);
  check_sums(manifest, origin);
  return manifest;
}

ShardManifest read_manifest(Storage& storage, const std::string& folder) {
  const std::string path = join_path(folder, kShardManifestName);
  check(storage.exists(folder), ErrorCode::Data, "{}: no such folder; expected one of shards",
        folder);
  if (!storage.exists(path)) check_holds_no_shard_folders(folder);
  check(storage.exists(path), ErrorCode::Data,
        "{}: no {} in it: not a folder of shards, or the command that makes it has not finished; "
        "run that again to resume",
        folder, kShardManifestName);
  return parse_manifest(read_text(storage, path), path);
}

uint64_t manifest_hash(const ShardManifest& manifest) {
  // They follow from the tokens, and runs were recorded with the hash of manifests without them.
  ShardManifest hashed = manifest;
  for (ShardFile& shard : hashed.shards) shard.hashes_hash.reset();
  hashed.equal_documents = 0;
  const std::string json = to_json(hashed);
  return XXH3_64bits(json.data(), json.size());
}

uint64_t tokenizer_hash(const Tokenizer& tokenizer) {
  const std::string file = tokenizer.serialize();
  return XXH3_64bits(file.data(), file.size());
}

void check_tokenizer(const ShardManifest& manifest, const Tokenizer& tokenizer,
                     std::string_view folder) {
  if (manifest.tokenizer_hash == 0) {
    check(manifest.vocab_size <= tokenizer.vocab_size(), ErrorCode::Config,
          "{}: made with another tokenizer: its vocabulary is {}, the {} tokenizer's {}", folder,
          manifest.vocab_size, tokenizer.kind(), tokenizer.vocab_size());
    return;
  }
  const uint64_t hash = tokenizer_hash(tokenizer);
  check(hash == manifest.tokenizer_hash, ErrorCode::Config,
        "{}: made with another tokenizer: expected {} {} of {} ids, got {} {} of {}", folder,
        manifest.tokenizer_kind, hex(manifest.tokenizer_hash), manifest.vocab_size,
        tokenizer.kind(), hex(hash), tokenizer.vocab_size());
}

}  // namespace ingot
