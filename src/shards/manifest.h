// What a folder of token shards holds. The manifest is written last: a folder without one is not
// finished, a folder with one is whole.
//
//   FOLDER/manifest.json      this, as JSON; hashes as 16 hexadecimal digits
//   FOLDER/NAME.tokens        ids, little-endian u16 or u32, document after document
//   FOLDER/NAME.documents     a DocumentRecord per document, little-endian
//   FOLDER/NAME.names         per document: its source's number (in `sources`), a tab, its own id,
//                             a line feed; in the id a backslash is written \\ and a line feed \n.
//                             One zstd frame per kNamesPerFrame documents, so that a name is found
//                             without reading them all; `zstd -d` reads the whole file.
//   FOLDER/NAME.hashes        hashes of the chunks of these files and of each document
//                             (shard_hashes.h); shards of before Ingot wrote them have none
//
// A document lies in one shard. What else is in the folder (stage.json, tasks/) says how it came
// about and is not needed to read it.
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

// 128 bits that name a document wherever it goes: XXH3-128 of its source's name, a NUL byte, its
// own id.
struct DocumentId {
  uint64_t low = 0, high = 0;
  auto operator<=>(const DocumentId&) const = default;
};
DocumentId document_id(std::string_view source, std::string_view id);
std::string to_hex(DocumentId id);  // 32 digits, the high half first
// False when `text` is not 32 hexadecimal digits.
bool parse_document_id(std::string_view text, DocumentId& id);

struct DocumentRecord {
  uint64_t end = 0;  // in tokens, from the shard's beginning
  DocumentId id;
  uint64_t bytes = 0;  // of UTF-8 text that it came from
};
static_assert(sizeof(DocumentRecord) == 32, "the record is written as it lies in memory");

struct ShardFile {
  std::string name;                                              // "00000"
  int64_t num_tokens = 0, num_documents = 0;                     // at least one of each
  uint64_t tokens_hash = 0, documents_hash = 0, names_hash = 0;  // XXH3-64 of the files
  std::optional<uint64_t> hashes_hash = {};  // of NAME.hashes (shard_hashes.h); none: no such file
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
  uint64_t tokenizer_hash = 0;  // tokenizer_hash() of the one that made the ids; 0: not known
  std::string tokenizer_kind;   // "bpe"
  std::vector<ShardSource> sources;
  std::vector<ShardFile> shards;
  // Documents, counted through all shards, that were cut to make a token count exact: they have
  // lost their end and EOS, and their bytes are in proportion. Ascending.
  std::vector<int64_t> cut_documents;
  std::map<std::string, int64_t> left_out;  // records of the input that are not here, by reason
  int64_t duplicate_ids = 0;                // documents whose id an earlier one has; they are here
  int64_t equal_documents = 0;              // documents that say what an earlier one does, the same

  int64_t num_tokens() const;
  int64_t num_documents() const;
  int64_t num_bytes() const;
};

std::string to_json(const ShardManifest& manifest);
// Throws ErrorCode::Data naming the key that is missing or wrong; sums are checked too.
ShardManifest parse_manifest(std::string_view json, std::string_view origin);
// Throws ErrorCode::Data where there is no manifest, saying what that means.
ShardManifest read_manifest(Storage& storage, const std::string& folder);
// Identifies tokens, order and documents. Equal for shards with and without NAME.hashes, and with
// and without a count of equal documents.
uint64_t manifest_hash(const ShardManifest& manifest);

class Tokenizer;
uint64_t tokenizer_hash(const Tokenizer& tokenizer);  // XXH3-64 of Tokenizer::serialize()
// Throws ErrorCode::Config when `tokenizer` is not the one that made the shards in `folder`; where
// that is not known, when its vocabulary is too small for them.
void check_tokenizer(const ShardManifest& manifest, const Tokenizer& tokenizer,
                     std::string_view folder);

// The file in a folder of shards that holds the tokenizer that made them, as
// Tokenizer::serialize() writes it.
inline constexpr std::string_view kShardTokenizerName = "tokenizer";

}  // namespace ingot
