// A flat, random-access sequence of token ids.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Documents lie one after the other. Files are mapped, so memory does not grow with the corpus;
// only text under a tokenizer other than "byte" is encoded at open and kept, and is refused above
// kMaxEncodedTextBytes (text_source.h). Reading is thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual int64_t num_tokens() const = 0;
  // UTF-8 bytes the tokens [begin, end) stand for (for bits per byte); -1 when not known (token
  // files).
  virtual int64_t num_bytes(int64_t begin, int64_t end) const = 0;
  // Fills out with tokens [begin, begin + out.size()). Throws ErrorCode::Data naming file, position
  // and id when an id is outside the vocabulary.
  virtual void read(int64_t begin, std::span<int32_t> out) const = 0;
  // Document d is the tokens [document_begin(d), document_begin(d + 1)), d up to num_documents()
  // included; a source that does not know its boundaries is one document.
  virtual int64_t num_documents() const = 0;
  virtual int64_t document_begin(int64_t document) const = 0;
  virtual int64_t document_at(int64_t position) const = 0;  // the one that holds `position`
  int64_t document_start(int64_t position) const { return document_begin(document_at(position)); }
  virtual std::string document_name(int64_t document) const = 0;  // "books/emma.txt"
  // The document of that name, or of that id where documents have one; reads all names.
  virtual std::optional<int64_t> find_document(std::string_view name) const;
  // What the documents came from, where the source keeps account of that; reads all names.
  struct Origins {
    std::vector<std::string> names;     // none: not known
    std::vector<uint16_t> of_document;  // numbers among them
  };
  virtual Origins origins() const { return {}; }
  // Equal for equal tokens in equal documents, wherever they lie; of files beyond kResidentBytes
  // the size and 64 places are looked at.
  virtual uint64_t content_hash() const = 0;
  virtual std::string describe() const = 0;  // "3 text files, 20.1 MB, 21,004,113 tokens (byte)"
};

// Opens `path`: a text file, a folder of .txt (read in name order, recursively), a folder of token
// shards (shard_source.h), or a token file.
//  - text is encoded by the tokenizer (bytes are used where they lie), one document a file, each
//    followed by EOS; must be valid UTF-8
//  - *.bin with a Megatron index (*.idx) beside it: as the index says
//  - *.bin: raw little-endian u16 or u32 ids as `token_dtype` says ("auto": llm.c's header if
//    there is one, else u16)
// Throws ErrorCode::Data with one clear line for: missing, empty, not UTF-8 (with the byte offset),
// truncated (size not a multiple of the id size, or other than its header says), ids ≥ vocab; and
// ErrorCode::Config when the tokenizer has more ids than `vocab`. `tokenizer` is used only during
// the call.
std::unique_ptr<TokenSource> open_token_source(const std::string& path, const Tokenizer& tokenizer,
                                               const std::string& token_dtype, int64_t vocab);

// Tokens [begin, end) of another source, which must outlive it.
std::unique_ptr<TokenSource> subrange(const TokenSource& source, int64_t begin, int64_t end);

}  // namespace ingot
