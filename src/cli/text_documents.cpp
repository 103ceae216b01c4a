#include "cli/text_documents.h"

#include <fmt/format.h>

#include <utility>

#include "cli/frame/command.h"
#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "core/text/format.h"

namespace ingot::cli {

void ReadOptions::add_to(Command& command) {
  add_settings(command, settings_of(settings), {"text_field", "keep_crlf"});
  remote.add_to(command);
}

TextDocuments::TextDocuments(const std::vector<std::string>& locations, const ReadOptions& options)
    : settings_(options.settings) {
  settings_.remote = options.remote.settings();
  files_ = list_input_files(locations, settings_.remote);
  std::string problem = same_file_twice(files_);
  if (problem.empty()) problem = equal_inputs(files_, available_cores());
  check(problem.empty(), ErrorCode::Data, "{}", problem);
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
    equal_.add(files_[next_file_ - 1], reader_->content());
    reader_ = nullptr;
  }
}

void TextDocuments::report() const {
  ReadCounts all = counts_;
  if (reader_ != nullptr) all += reader_->counts();
  for (const auto& [reason, count] : all.skipped) {
    const auto first = all.first_skipped.find(reason);
    fmt::print(stderr, "left out: {} documents ({}; the first: {}, record {})\n",
               format_count(count), reason, first->second.file, first->second.record);
  }
  if (equal_.count() > 0)
    fmt::print(stderr, "{}\n", text_of_equal_files(equal_.count(), equal_.examples()));
  check(all.documents > 0, ErrorCode::Data,
        "no document in {} files: expected text, or records with a field «{}» (--text-field)",
        files_.size(), settings_.text_field);
}

}  // namespace ingot::cli
