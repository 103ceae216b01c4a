#include "tokenizer/bpe/prepared.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>

#include "core/error/log.h"

namespace ingot {
namespace {

constexpr std::string_view kMagic = "ingotbpe";
// Of the layout, and of what a file is taken for; all that is kept under another is made anew.
constexpr uint32_t kVersion = 2;
constexpr size_t kMostFiles = 8;
constexpr std::string_view kEnding = ".bpe";

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  SourceKey key;
  uint64_t checksum;  // of what follows
};

std::string name_of(const SourceKey& key) {
  return fmt::format("{:016x}{:016x}{}", key[0], key[1], kEnding);
}

uint64_t checksum_of(const ReadableFile& file, int64_t begin, int64_t end) {
  constexpr int64_t kStep = 1 << 20;
  XXH3_state_t* const state = XXH3_createState();
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> owner(state, XXH3_freeState);
  XXH3_64bits_reset(state);
  std::vector<std::byte> buffer(kStep);
  for (int64_t at = begin; at < end; at += kStep) {
    const auto bytes = std::span(buffer).first(static_cast<size_t>(std::min(kStep, end - at)));
    file.read(at, bytes);
    XXH3_64bits_update(state, bytes.data(), bytes.size());
  }
  return XXH3_64bits_digest(state);
}

void remove_some(Storage& storage, const std::string& folder, const std::string& except) {
  std::vector<std::string> names = storage.list(folder);
  std::erase_if(
      names, [&](const std::string& name) { return !name.ends_with(kEnding) || name == except; });
  for (size_t i = kMostFiles - 1; i < names.size(); ++i) {
    storage.remove(join_path(folder, names[i]));
  }
}

}  // namespace

SourceKey source_key(const std::vector<std::string_view>& sources) {
  XXH3_state_t* const state = XXH3_createState();
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> owner(state, XXH3_freeState);
  XXH3_128bits_reset(state);
  for (const std::string_view source : sources) {
    const uint64_t size = source.size();
    XXH3_128bits_update(state, &size, sizeof size);
    XXH3_128bits_update(state, source.data(), source.size());
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state);
  return {hash.high64, hash.low64};
}

std::unique_ptr<Tokenizer> load_prepared(Storage& storage, const std::string& folder,
                                         const SourceKey& key) try {
  const std::string path = join_path(folder, name_of(key));
  if (!storage.exists(path)) return nullptr;
  const auto file = storage.open(path);
  ArchiveReader start(*file, 0, file->size());
  const auto header = start.get<Header>();
  const bool fits = std::string_view(header.magic, sizeof header.magic) == kMagic &&
                    header.version == kVersion && header.key == key;
  if (!fits) return nullptr;
  if (checksum_of(*file, sizeof header, file->size()) != header.checksum) return nullptr;
  ArchiveReader reader(*file, sizeof header, file->size());
  return read_bpe_tokenizer(reader);
} catch (const Error& error) {
  log::debug("prepared_tokenizer", {{"folder", folder}, {"ignored", error.what()}});
  return nullptr;
}

void keep_prepared(Storage& storage, const std::string& folder, const SourceKey& key,
                   const Tokenizer& tokenizer) try {
  ArchiveWriter writer;
  if (!save_bpe_tokenizer(tokenizer, writer)) return;
  Header header{{}, kVersion, 0, key, XXH3_64bits(writer.bytes().data(), writer.bytes().size())};
  std::copy(kMagic.begin(), kMagic.end(), header.magic);
  storage.make_directories(folder);
  remove_some(storage, folder, name_of(key));
  // Two programs may do this at the same time; the last whole file stays.
  const std::string aside = join_path(folder, fmt::format("{}.{}", name_of(key), getpid()));
  try {
    const auto file = storage.create(aside);
    file->append(std::as_bytes(std::span(&header, 1)));
    file->append(std::as_bytes(std::span(writer.bytes())));
    file->close();
    storage.rename(aside, join_path(folder, name_of(key)));
  } catch (const Error&) {
    if (storage.exists(aside)) storage.remove(aside);  // on a full disk half of it
    throw;
  }
} catch (const Error& error) {
  log::debug("prepared_tokenizer", {{"folder", folder}, {"not_kept", error.what()}});
}

void save_bpe_model(const BpeModel& model, ArchiveWriter& writer) {
  std::vector<uint32_t> sizes;
  std::string all;
  for (const std::string& token : model.tokens) {
    sizes.push_back(static_cast<uint32_t>(token.size()));
    all += token;
  }
  writer.put_all(sizes);
  writer.put_text(all);
  writer.put_all(model.merges);
  writer.put(model.whole_piece_first);
  writer.put(model.split);
  writer.put(model.nfc);
  writer.put(model.bos);
  writer.put(model.eos);
  writer.put_text(model.post_processor);
  writer.put(static_cast<uint64_t>(model.added.size()));
  for (const AddedToken& added : model.added) {
    writer.put_text(added.content);
    writer.put(added.id);
    for (const bool flag :
         {added.special, added.normalized, added.lstrip, added.rstrip, added.single_word}) {
      writer.put(flag);
    }
  }
}

BpeModel read_bpe_model(ArchiveReader& reader) {
  BpeModel model;
  const auto sizes = reader.get_all<uint32_t>();
  const std::string all = reader.get_text();
  check_archived(sizes.size() < INT32_MAX, "fewer tokens");
  model.tokens.reserve(sizes.size());
  size_t begin = 0;
  for (const uint32_t size : sizes) {
    check_archived(size <= all.size() - begin, "the bytes of all tokens");
    model.tokens.emplace_back(all, begin, size);
    begin += size;
  }
  const auto is_id = [&](int32_t id) { return id >= 0 && static_cast<size_t>(id) < sizes.size(); };
  const auto flag = [&] {
    const auto byte = reader.get<uint8_t>();
    check_archived(byte <= 1, "yes or no");
    return byte != 0;
  };
  model.merges = reader.get_all<TokenMerge>();
  for (const auto [left, right, result] : model.merges) {
    check_archived(is_id(left) && is_id(right) && is_id(result), "merges of tokens");
  }
  model.whole_piece_first = flag();
  const auto split = reader.get<Split>();
  check_archived(
      std::find(std::begin(kAllSplits), std::end(kAllSplits), split) != std::end(kAllSplits),
      "a known pattern");
  model.split = split;
  model.nfc = flag();
  model.bos = reader.get<int32_t>();
  model.eos = reader.get<int32_t>();
  check_archived((model.bos == -1 || is_id(model.bos)) && (model.eos == -1 || is_id(model.eos)),
                 "BOS and EOS that are tokens");
  model.post_processor = reader.get_text();
  for (auto left = reader.get<uint64_t>(); left > 0; --left) {
    AddedToken added;
    added.content = reader.get_text();
    added.id = reader.get<int32_t>();
    check_archived(!added.content.empty() && is_id(added.id), "added tokens");
    for (bool* value :
         {&added.special, &added.normalized, &added.lstrip, &added.rstrip, &added.single_word}) {
      *value = flag();
    }
    model.added.push_back(std::move(added));
  }
  return model;
}

}  // namespace ingot
