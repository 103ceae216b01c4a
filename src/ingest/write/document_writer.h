// Documents as JSON lines, compressed where the name says so.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/storage/storage.h"
#include "ingest/document.h"

namespace ingot {

// More keys of a line: name, which must need no escape, and value.
using ExtraMembers = std::vector<std::pair<std::string_view, std::string>>;

// One line a document: id, source, text and, where known, url and language, keys in that order,
// then the extra ones. Bytes of `text` that are not UTF-8 must have been dealt with before: they
// throw. The file's bytes depend on the documents alone.
class DocumentWriter {
 public:
  virtual ~DocumentWriter() = default;
  virtual void write(const Document& document, const ExtraMembers& extra) = 0;
  void write(const Document& document) { write(document, {}); }
  // The file appears under its name; without this call it does not.
  virtual void commit() = 0;
};

// `path` ends in .jsonl, .jsonl.gz or .jsonl.zst.
std::unique_ptr<DocumentWriter> create_documents(std::shared_ptr<Storage> storage,
                                                 const std::string& path);

}  // namespace ingot
