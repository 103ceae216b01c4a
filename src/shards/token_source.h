// A flat, random-access sequence of token ids.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shards/content_id.h"

namespace ingot {

// Documents lie one after the other. Files are mapped, so memory does not grow with the corpus.
// Reading is thread-safe.
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
  // What a document says, wherever it lies; none where the source does not know its documents.
  virtual std::optional<ContentId> content(int64_t) const { return std::nullopt; }
  // Tokens that are read to know that of all documents; 0 where it is recorded with them.
  virtual int64_t content_cost() const { return 0; }
  // Begins to compare, on a thread of its own, what has hashes that no read compares; read() throws
  // what is found.
  virtual void compare_in_background() {}
  // Equal for equal tokens in equal documents, wherever they lie; of files beyond kResidentBytes
  // the size and 64 places are looked at.
  virtual uint64_t content_hash() const = 0;
  virtual std::string describe() const = 0;  // "3 text files, 20.1 MB, 21,004,113 tokens (byte)"
};

// Tokens [begin, end) of another source, which must outlive it.
std::unique_ptr<TokenSource> subrange(const TokenSource& source, int64_t begin, int64_t end);

}  // namespace ingot
