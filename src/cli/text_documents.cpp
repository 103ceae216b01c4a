#include "cli/text_documents.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/text/format.h"

namespace ingot::cli {

void ReadOptions::add_to(Command& command) {
  command.add_option("--text-field", settings.text_field, "of .jsonl, .csv and .parquet")
      ->capture_default_str();
  command.add_flag("--keep-crlf", settings.keeps_crlf,
                   "leave CR LF in texts, which else becomes LF");
  remote.add_to(command);
}

TextDocuments::TextDocuments(const std::vector<std::string>& locations, const ReadOptions& options)
    : settings_(options.settings) {
  settings_.remote = options.remote.settings();
  files_ = list_input_files(locations, settings_.remote);
  check_text_field(files_, settings_);
}

bool TextDocuments::next(std::string& text) {
  while (true) {
    if (reader_ == nullptr) {
      if (next_file_ == files_.size()) return false;
      reader_ = open_documents(files_[next_file_++], settings_);
    }
    if (reader_->next(document_)) {
      std::swap(text, document_.text);
      return true;
    }
    counts_ += reader_->counts();
    reader_ = nullptr;
  }
}

void TextDocuments::report() const {
  ReadCounts all = counts_;
  if (reader_ != nullptr) all += reader_->counts();
  for (const auto& [reason, count] : all.skipped) {
    fmt::print(stderr, "left out: {} documents ({})\n", format_count(count), reason);
  }
  check(all.documents > 0, ErrorCode::Data,
        "no document in {} files: expected text, or records with a field «{}» (--text-field)",
        files_.size(), settings_.text_field);
}

}  // namespace ingot::cli
