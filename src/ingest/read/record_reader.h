// Shared by readers of files with many records: numbering, counting, rules for fields.
#pragma once

#include <string>
#include <string_view>

#include "ingest/read/byte_stream.h"
#include "ingest/read/document_reader.h"

namespace ingot {

class RecordReader : public DocumentReader {
 public:
  RecordReader(const InputFile& file, const ReadSettings& settings)
      : file_(file), settings_(settings) {}

  bool next(Document& document) final;
  const ReadCounts& counts() const final { return counts_; }
  int64_t record() const final { return num_records_ - 1; }

 protected:
  enum class Outcome { Document, Skipped, End };
  // Reads the next record. Document: text, id and url are set, if the record has them; an empty id
  // becomes "NAME:NUMBER". Skipped: skip() was called.
  virtual Outcome read_record(Document& document) = 0;

  Outcome skip(const std::string& reason);
  const InputFile& file() const { return file_; }
  const ReadSettings& settings() const { return settings_; }
  size_t max_document_bytes() const { return static_cast<size_t>(settings_.max_document_bytes); }

 private:
  bool keep(Document& document);

  InputFile file_;
  ReadSettings settings_;
  ReadCounts counts_;
  int64_t num_records_ = 0;
};

std::unique_ptr<DocumentReader> read_text(const InputFile& file, const ReadSettings& settings);
std::unique_ptr<DocumentReader> read_json(const InputFile& file, const ReadSettings& settings);
std::unique_ptr<DocumentReader> read_csv(const InputFile& file, const ReadSettings& settings);
std::unique_ptr<DocumentReader> read_parquet(const InputFile& file, const ReadSettings& settings);
std::unique_ptr<DocumentReader> read_warc(const InputFile& file, const ReadSettings& settings);

}  // namespace ingot
