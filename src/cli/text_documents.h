// The texts of input files as a stream, for what needs no more of a document.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/frame/command_line.h"
#include "cli/remote.h"
#include "ingest/read/document_reader.h"
#include "ingest/read/equal_inputs.h"
#include "tokenizer/train/documents.h"

namespace ingot::cli {

// --text-field, and how remote files are reached.
struct ReadOptions {
  ReadSettings settings;
  RemoteOptions remote;

  void add_to(Command& command);
};

// Files of any kind that open_documents() reads, one after the other.
class TextDocuments {
 public:
  // Throws as list_input_files() does, and ErrorCode::Data for inputs that hold the same.
  TextDocuments(const std::vector<std::string>& locations, const ReadOptions& options);

  bool next(std::string& text);                                     // false at the end
  const InputFile& file() const { return files_[next_file_ - 1]; }  // of the last document
  // What was left out, and why, and what was read twice, on stderr; throws ErrorCode::Data when
  // there was not one document.
  void report() const;

 private:
  ReadSettings settings_;
  std::vector<InputFile> files_;
  size_t next_file_ = 0;
  std::unique_ptr<DocumentReader> reader_;
  Document document_;
  ReadCounts counts_;  // of files that are done
  EqualFiles equal_;
};

}  // namespace ingot::cli
