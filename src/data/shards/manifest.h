// What a folder of token shards holds. The manifest is written last: a folder without one is not
// finished, a folder with one is whole.
//
//   FOLDER/manifest.json         this, as JSON
//   FOLDER/00000.tokens          ids, little-endian u16 or u32, document after document
//   FOLDER/00000.documents       per document: u64 end (in tokens, from the shard's beginning),
//   then u64 low and u64
//                                high half of its 128-bit id, then u64 bytes of text it came from
//   FOLDER/00000.names           per document: its source's number, a tab, its own id, a line feed;
//   zstd
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/storage.h"

namespace ingot {

struct ShardFile {
  std::string name;  // "00000"
  int64_t num_tokens = 0, num_documents = 0;
  uint64_t tokens_hash = 0, documents_hash = 0, names_hash = 0;  // XXH3-64 of the files
};

struct ShardSource {
  std::string name;
  int64_t num_documents = 0, num_tokens = 0, num_bytes = 0;  // bytes of UTF-8 text
};

struct ShardManifest {
  int64_t version = 1;
  int64_t token_bytes = 2;  // 2 or 4
  int64_t vocab_size = 0;
  int32_t bos = -1, eos = -1;   // what stands before and after each document; -1: nothing does
  uint64_t tokenizer_hash = 0;  // XXH3-64 of Tokenizer::serialize()
  std::string tokenizer_kind;   // "bpe"
  std::vector<ShardSource> sources;
  std::vector<ShardFile> shards;

  int64_t num_tokens() const;
  int64_t num_documents() const;
};

std::string to_json(const ShardManifest& manifest);
// Throws ErrorCode::Data naming the key that is missing or wrong.
ShardManifest parse_manifest(std::string_view json, std::string_view origin);
ShardManifest read_manifest(Storage& storage, const std::string& folder);
uint64_t manifest_hash(const ShardManifest& manifest);  // identifies tokens, order and documents

}  // namespace ingot
