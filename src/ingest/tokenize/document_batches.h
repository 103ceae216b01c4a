// Splits the documents of many files into batches that threads encode independently.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/storage.h"
#include "ingest/read/document_reader.h"
#include "shards/manifest.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

struct SourceFile {
  InputFile file;
  int64_t source = 0;  // number in ShardManifest::sources
};

// What was read between two documents: skipped records, and files that ended.
struct Passed {
  ReadCounts counts;                // of the skipped records in these files
  std::vector<InputContent> files;  // their contents
};

// The reading position: this many documents of that file were read.
struct InputPosition {
  int64_t file = 0, documents = 0;
  uint64_t hash = 0;  // of these documents' ids and texts; 0: unknown
};

// A document, or a part of a long one.
struct BatchDocument {
  size_t begin = 0, size = 0;      // in TextBatch::view()
  bool first = true, last = true;  // of its parts
  // Set only with `last`.
  DocumentId id;
  std::string name;
  int64_t source = 0;
  int64_t num_bytes = 0;  // of all its parts
  RecordPlace place;
  InputPosition after;  // the position after it
  Passed before;        // since the previous document
};

struct TextBatch {
  std::vector<BatchDocument> documents;
  std::string text;                              // of short documents
  std::shared_ptr<const std::string> long_text;  // or of a long one; the batch is `part` of it
  std::string_view part;
  Passed after;            // with the last document of all files
  int64_t bytes_read = 0;  // of the stored input, since the previous batch

  std::string_view view() const { return long_text ? part : std::string_view(text); }
  void clear();
};

// Documents are in file order; the cuts depend only on the documents. Texts longer than
// kLongDocumentBytes are cut where the tokenizer allows it. A text file (.txt, .md, neither
// compressed nor remote) larger than kStreamBytes is read twice in windows: to validate UTF-8, and
// to return its text. Its size is unlimited; ReadSettings::max_document_bytes applies to all
// others.
class BatchReader {
 public:
  static constexpr size_t kBatchBytes = size_t{512} << 10;
  static constexpr size_t kLongDocumentBytes = size_t{1} << 20;
  static constexpr int64_t kStreamBytes = int64_t{4} << 20;

  // All arguments must outlive the reader. `sources` names them; starts at `from`. Throws
  // ErrorCode::Config if the documents before it are not those read earlier for `folder`.
  BatchReader(const std::vector<SourceFile>& files, const std::vector<ShardSource>& sources,
              const ReadSettings& settings, const Tokenizer& tokenizer, InputPosition from,
              const std::string& folder);

  // False if nothing is left; the batch may still have `after`.
  bool fill(TextBatch& batch);

 private:
  bool next_document(BatchDocument& entry);
  bool open_text(BatchDocument& entry);
  bool read_window();
  void add_part(TextBatch& batch);
  void add_short(TextBatch& batch, BatchDocument entry);
  void take(BatchDocument& entry, std::string_view text);
  bool name_fits(const BatchDocument& entry);
  int64_t take_bytes_read();

  const std::vector<SourceFile>& files_;
  const std::vector<ShardSource>& sources_;
  const ReadSettings settings_;
  const Tokenizer& tokenizer_;
  InputPosition next_;
  std::unique_ptr<DocumentReader> reader_;  // of file next_.file; null: not opened yet
  Document document_;
  // A long document: the text read so far, its part not yet in a batch, and the file with the rest;
  // null: none.
  std::shared_ptr<const std::string> long_text_;
  std::string_view long_rest_;
  BatchDocument long_entry_;
  bool long_begun_ = false;
  std::unique_ptr<ReadableFile> long_file_;
  int64_t long_file_at_ = 0;
  InputContent text_content_;  // of the file last opened by open_text()
  Passed passed_;              // not yet in a batch
  int64_t bytes_of_files_ = 0, bytes_reported_ = 0;
};

}  // namespace ingot
