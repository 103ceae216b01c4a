// Folders of shards made from documents in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/random/random.h"
#include "shards/shard_reader.h"
#include "shards/shard_writer.h"

namespace ingot::test {

struct TokenDocument {
  int64_t source = 0;
  std::string name;
  std::vector<int32_t> ids;
};

// `count` documents of 1 to `longest` ids below `vocab`, of two sources.
inline std::vector<TokenDocument> some_documents(int64_t count, int64_t longest, int64_t vocab) {
  const RandomStream random(7, Purpose::Test);
  std::vector<TokenDocument> documents;
  uint64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    TokenDocument& document = documents.emplace_back();
    document.source = i % 3 == 0 ? 1 : 0;
    document.name = "file.jsonl:" + std::to_string(i);
    document.ids.resize(1 + random.bits(at++) % static_cast<uint64_t>(longest));
    for (int32_t& id : document.ids) {
      id = static_cast<int32_t>(random.bits(at++) % static_cast<uint64_t>(vocab));
    }
  }
  return documents;
}

inline ShardManifest manifest_for(int64_t vocab) {
  ShardManifest manifest;
  manifest.vocab_size = vocab;
  manifest.token_bytes = token_bytes_for(vocab);
  manifest.tokenizer_kind = "test";
  manifest.sources = {{"web", 0, 0, 0}, {"books", 0, 0, 0}};
  return manifest;
}

// Writes them as a finished folder that declares BOS and EOS; a document's text counts 4 bytes an
// id.
inline ShardManifest write_shards(const std::shared_ptr<Storage>& storage,
                                  const std::string& folder,
                                  const std::vector<TokenDocument>& documents, int64_t shard_tokens,
                                  int64_t vocab, int32_t bos = -1, int32_t eos = -1) {
  ShardManifest manifest = manifest_for(vocab);
  manifest.bos = bos;
  manifest.eos = eos;
  ShardWriter writer(storage, folder, {manifest.token_bytes, shard_tokens, "", bos, eos},
                     {{}, manifest.sources});
  for (const TokenDocument& document : documents) {
    writer.append(document.ids);
    writer.end_document(
        document_id(manifest.sources[static_cast<size_t>(document.source)].name, document.name),
        static_cast<int64_t>(4 * document.ids.size()), document.source, document.name);
  }
  writer.finish();
  manifest.shards = writer.written().shards;
  manifest.sources = writer.written().sources;
  write_manifest(*storage, folder, manifest);
  return manifest;
}

}  // namespace ingot::test
