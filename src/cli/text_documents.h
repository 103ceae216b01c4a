// Streams the texts of input files, for commands that need nothing else of a document.
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

// --text-field, and the options for remote files.
struct ReadOptions {
  ReadSettings settings;
  RemoteOptions remote;

  void add_to(Command& command);
};

// Files of any kind that open_documents() reads, one after the other.
class TextDocuments {
 public:
  // Throws like list_input_files(), and ErrorCode::Data for inputs with equal content.
  TextDocuments(const std::vector<std::string>& locations, const ReadOptions& options);

  bool next(std::string& text);                                     // false at the end
  const InputFile& file() const { return files_[next_file_ - 1]; }  // file of the last document
  // Prints on stderr what was skipped and why, and what was read twice. Throws ErrorCode::Data if
  // there was no document.
  void report() const;

 private:
  ReadSettings settings_;
  std::vector<InputFile> files_;
  size_t next_file_ = 0;
  std::unique_ptr<DocumentReader> reader_;
  Document document_;
  ReadCounts counts_;  // of finished files
  EqualFiles equal_;
};

}  // namespace ingot::cli
