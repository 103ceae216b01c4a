// Writes documents as JSON lines, compressed by the file's name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/storage/storage.h"
#include "ingest/document.h"

namespace ingot {

// Additional members of a line: name, which must need no escaping, and value.
using ExtraMembers = std::vector<std::pair<std::string_view, std::string>>;

// One line per document: id, source, text and, if known, url and language, in that order, then the
// additional members. `text` must be valid UTF-8, or it throws. The file's bytes depend only on the
// documents.
class DocumentWriter {
 public:
  virtual ~DocumentWriter() = default;
  virtual void write(const Document& document, const ExtraMembers& extra) = 0;
  void write(const Document& document) { write(document, {}); }
  // Publishes the file under its name; without this call it does not appear.
  virtual void commit() = 0;
};

// `path` ends in .jsonl, .jsonl.gz or .jsonl.zst.
std::unique_ptr<DocumentWriter> create_documents(std::shared_ptr<Storage> storage,
                                                 const std::string& path);

}  // namespace ingot
