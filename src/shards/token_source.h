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

// Documents are consecutive. Files are mapped, so memory does not grow with the corpus. Reading is
// thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual int64_t num_tokens() const = 0;
  // UTF-8 bytes of the tokens [begin, end) (for bits per byte); -1 if unknown (token files).
  virtual int64_t num_bytes(int64_t begin, int64_t end) const = 0;
  // Fills out with tokens [begin, begin + out.size()). Throws ErrorCode::Data naming file, position
  // and id if an id is outside the vocabulary.
  virtual void read(int64_t begin, std::span<int32_t> out) const = 0;
  // Document d is the tokens [document_begin(d), document_begin(d + 1)); d = num_documents() is
  // allowed. A source without known boundaries is one document.
  virtual int64_t num_documents() const = 0;
  virtual int64_t document_begin(int64_t document) const = 0;
  virtual int64_t document_at(int64_t position) const = 0;  // the one containing `position`
  int64_t document_start(int64_t position) const { return document_begin(document_at(position)); }
  virtual std::string document_name(int64_t document) const = 0;  // "books/emma.txt"
  // The document with that name, or with that id if documents have ids; reads all names.
  virtual std::optional<int64_t> find_document(std::string_view name) const;
  // The documents' origins, if the source records them; reads all names.
  struct Origins {
    std::vector<std::string> names;     // empty: unknown
    std::vector<uint16_t> of_document;  // indices into names
  };
  virtual Origins origins() const { return {}; }
  // A document's content id; none if the source does not know its documents.
  virtual std::optional<ContentId> content(int64_t) const { return std::nullopt; }
  // Tokens read to compute all content ids; 0 if they are stored.
  virtual int64_t content_cost() const { return 0; }
  // Starts verifying, on its own thread, data with hashes that no read verifies; read() throws
  // errors found.
  virtual void compare_in_background() {}
  // Equal for equal tokens in equal documents, wherever they are stored; for files beyond
  // kResidentBytes it covers the size and 64 samples.
  virtual uint64_t content_hash() const = 0;
  virtual std::string describe() const = 0;  // "3 text files, 20.1 MB, 21,004,113 tokens (byte)"
};

// Tokens [begin, end) of another source, which must outlive the result.
std::unique_ptr<TokenSource> subrange(const TokenSource& source, int64_t begin, int64_t end);

}  // namespace ingot
