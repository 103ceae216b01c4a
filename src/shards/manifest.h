// The manifest of a folder of token shards. It is written last: a folder without one is unfinished,
// a folder with one is complete.
//
//   FOLDER/manifest.json      this, as JSON; hashes as 16 hexadecimal digits
//   FOLDER/NAME.tokens        ids, little-endian u16 or u32, document after document
//   FOLDER/NAME.documents     a DocumentRecord per document, little-endian
//   FOLDER/NAME.names         per document: its source's number (in `sources`), a tab, its own id,
//                             a line feed; in the id a backslash is written \\ and a line feed
//                             \n.
//                             One zstd frame per kNamesPerFrame documents, so that a name is found
//                             without reading them all; `zstd -d` reads the whole file.
//   FOLDER/NAME.hashes        hashes of the chunks of these files and of each document
//                             (shard_hashes.h); shards of older versions have none
//
// Each document is in one shard. Other files in the folder (stage.json, tasks/) record how it was
// made and are not needed to read it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/storage.h"

namespace ingot {

inline constexpr std::string_view kShardManifestName = "manifest.json";
inline constexpr int64_t kNamesPerFrame = 4096;

// 128 bits that identify a document: XXH3-128 of its source's name, a NUL byte, its own id.
struct DocumentId {
  uint64_t low = 0, high = 0;
  auto operator<=>(const DocumentId&) const = default;
};
DocumentId document_id(std::string_view source, std::string_view id);
std::string to_hex(DocumentId id);  // 32 digits, the high half first
// False if `text` is not 32 hexadecimal digits.
bool parse_document_id(std::string_view text, DocumentId& id);

struct DocumentRecord {
  uint64_t end = 0;  // in tokens, from the start of the shard
  DocumentId id;
  uint64_t bytes = 0;  // of the UTF-8 text
};
static_assert(sizeof(DocumentRecord) == 32, "the record is written as it lies in memory");

struct ShardFile {
  std::string name;                                              // "00000"
  int64_t num_tokens = 0, num_documents = 0;                     // at least one of each
  uint64_t tokens_hash = 0, documents_hash = 0, names_hash = 0;  // XXH3-64 of the files
  std::optional<uint64_t> hashes_hash = {};  // of NAME.hashes; none: no such file
};

struct ShardSource {
  std::string name;
  int64_t num_documents = 0, num_tokens = 0, num_bytes = 0;  // bytes of UTF-8 text
};

struct ShardManifest {
  int64_t version = 1;
  int64_t token_bytes = 2;  // 2 or 4
  int64_t vocab_size = 0;
  int32_t bos = -1, eos = -1;   // before and after each document; -1: none
  uint64_t tokenizer_hash = 0;  // tokenizer_hash() of the tokenizer; 0: unknown
  std::string tokenizer_kind;   // "bpe"
  std::vector<ShardSource> sources;
  std::vector<ShardFile> shards;
  // Numbers, over all shards, of documents that were cut to make a token count exact. They have no
  // EOS, and their bytes are scaled in proportion. Ascending.
  std::vector<int64_t> cut_documents;
  std::map<std::string, int64_t> left_out;  // input records not stored, by reason
  int64_t duplicate_ids = 0;                // stored documents with the id of an earlier one
  int64_t equal_documents = 0;              // the same for contents

  int64_t num_tokens() const;
  int64_t num_documents() const;
  int64_t num_bytes() const;
};

std::string to_json(const ShardManifest& manifest);
// Throws ErrorCode::Data naming the missing or wrong key; also checks sums.
ShardManifest parse_manifest(std::string_view json, std::string_view origin);
// Throws ErrorCode::Data if there is no manifest, with the meaning of that.
ShardManifest read_manifest(Storage& storage, const std::string& folder);
// Identifies tokens, order and documents. Does not depend on NAME.hashes or on the count of equal
// documents.
uint64_t manifest_hash(const ShardManifest& manifest);

class Tokenizer;
uint64_t tokenizer_hash(const Tokenizer& tokenizer);  // XXH3-64 of Tokenizer::serialize()
// Throws ErrorCode::Config if `tokenizer` did not make the shards in `folder`; if that is unknown,
// if its vocabulary is too small for them.
void check_tokenizer(const ShardManifest& manifest, const Tokenizer& tokenizer,
                     std::string_view folder);

// The file in a folder of shards with the tokenizer that made them, as written by
// Tokenizer::serialize().
inline constexpr std::string_view kShardTokenizerName = "tokenizer";

}  // namespace ingot
