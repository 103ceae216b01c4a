// A file's bytes through open_documents(), with what every reader promises checked.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "ingest/read/document_reader.h"

struct FuzzedDocuments {
  std::vector<ingot::Document> documents;
  ingot::ReadCounts counts;
  bool damaged = false;  // it ended in an Error
};

inline FuzzedDocuments documents_of_bytes(const char* name, const uint8_t* data, size_t size,
                                          int64_t max_document_bytes) {
  const int file = memfd_create("documents", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) abort();
  ingot::ReadSettings settings;
  settings.max_document_bytes = max_document_bytes;
  FuzzedDocuments result;
  try {
    const auto reader = ingot::open_documents(
        {"/proc/self/fd/" + std::to_string(file), name, static_cast<int64_t>(size)}, settings);
    for (ingot::Document document; reader->next(document);) {
      if (document.text.empty() || document.id.empty()) abort();
      if (static_cast<int64_t>(document.text.size()) > max_document_bytes) abort();
      for (const std::string* text : {&document.text, &document.id, &document.url}) {
        if (ingot::valid_utf8_prefix(*text) != text->size()) abort();
      }
      result.documents.push_back(document);
      result.counts = reader->counts();
      if (result.counts.documents != static_cast<int64_t>(result.documents.size())) abort();
    }
    result.counts = reader->counts();
  } catch (const ingot::Error&) {
    result.damaged = true;
  }
  close(file);
  return result;
}
