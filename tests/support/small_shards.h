// Folders of shards of bytes, for tests.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "shards/shard_writer.h"
#include "tokenizer/tokenizer.h"

namespace ingot::testing_support {

struct SmallDocument {
  std::string source, id, text;
};

// Each document followed by EOS; sources are numbered as they appear.
inline ShardManifest write_small_shards(const std::string& folder,
                                        const std::vector<SmallDocument>& documents,
                                        int64_t shard_tokens,
                                        std::optional<uint64_t> tokenizer_hash = {}) {
  const auto storage = posix_storage();
  const auto tokenizer = byte_tokenizer();
  storage->make_directories(folder);
  WrittenShards before;
  const auto number_of = [&](const std::string& name) {
    const auto found = std::find_if(before.sources.begin(), before.sources.end(),
                                    [&](const ShardSource& s) { return s.name == name; });
    return found - before.sources.begin();
  };
  for (const SmallDocument& document : documents)
    if (number_of(document.source) == static_cast<int64_t>(before.sources.size()))
      before.sources.push_back({document.source});
  ShardSettings settings;
  settings.shard_tokens = shard_tokens;
  settings.eos = tokenizer->eos();
  ShardWriter writer(storage, folder, settings, before);
  for (const SmallDocument& document : documents) {
    std::vector<int32_t> ids = tokenizer->encode(document.text);
    ids.push_back(tokenizer->eos());
    writer.append(ids);
    writer.end_document(document_id(document.source, document.id),
                        static_cast<int64_t>(document.text.size()), number_of(document.source),
                        document.id);
  }
  writer.finish();
  ShardManifest manifest;
  manifest.vocab_size = tokenizer->vocab_size();
  manifest.eos = tokenizer->eos();
  manifest.tokenizer_hash = tokenizer_hash.value_or(ingot::tokenizer_hash(*tokenizer));
  manifest.tokenizer_kind = tokenizer->kind();
  manifest.sources = writer.written().sources;
  manifest.shards = writer.written().shards;
  write_manifest(*storage, folder, manifest);
  return manifest;
}

}  // namespace ingot::testing_support
