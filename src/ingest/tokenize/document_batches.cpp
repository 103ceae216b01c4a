#include "ingest/tokenize/document_batches.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text/utf8.h"
#include "shards/shard_writer.h"

namespace ingot {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_local_text(const InputFile& file) {
  const bool is_text = file.name.ends_with(".txt") || file.name.ends_with(".md");
  return is_text && file.location.find("://") == std::string::npos;
}

constexpr size_t kWindowBytes = size_t{4} << 20;

// Appends up to kWindowBytes from `at` on.
void read_more(const ReadableFile& file, int64_t at, std::string& to) {
  const size_t held = to.size();
  to.resize(held + std::min(kWindowBytes, static_cast<size_t>(file.size() - at)));
  file.read(at, std::as_writable_bytes(std::span(to).subspan(held)));
}

bool is_utf8(const ReadableFile& file) {
  std::string window;
  for (int64_t at = 0; at < file.size();) {
    const auto carried = static_cast<int64_t>(window.size());
    read_more(file, at, window);
    at += static_cast<int64_t>(window.size()) - carried;
    // A character may be cut by the end of the window; it is the beginning of the next.
    const size_t valid = valid_utf8_prefix(window);
    if (window.size() - valid > 3) return false;
    window.erase(0, valid);
  }
  return window.empty();
}

}  // namespace

void TextBatch::clear() {
  documents.clear();
  text.clear();
  long_text.reset();
  part = {};
  left_out.clear();
  bytes_read = 0;
}

BatchReader::BatchReader(const std::vector<SourceFile>& files,
                         const std::vector<ShardSource>& sources, const ReadSettings& settings,
                         const Tokenizer& tokenizer, InputPosition from)
    : files_(files), sources_(sources), settings_(settings), tokenizer_(tokenizer) {
  next_.file = from.file;
  for (int64_t i = 0; i < from.file; ++i) {
    bytes_of_files_ += std::max<int64_t>(0, files_[static_cast<size_t>(i)].file.bytes);
  }
  BatchDocument passed_over;
  while (next_.documents < from.documents) {
    check(
        next_document(passed_over) && next_.file == from.file, ErrorCode::Data,
        "file {} of the task has fewer than the {} documents that were taken from it before; begin "
        "the task anew",
        from.file, from.documents);
  }
  long_text_.reset();
  long_file_.reset();
  left_out_.clear();  // what came before has been counted
}

bool BatchReader::fill(TextBatch& batch) {
  batch.clear();
  if (long_text_) {
    add_part(batch);
    return true;
  }
  BatchDocument entry;
  while (batch.text.size() < kBatchBytes && next_document(entry)) {
    if (long_text_) {
      long_entry_ = std::move(entry);
      if (batch.documents.empty()) add_part(batch);
      break;
    }
    add_short(batch, std::move(entry));
    entry = {};
  }
  if (batch.documents.empty()) batch.left_out = std::exchange(left_out_, {});
  batch.bytes_read = take_bytes_read();
  return !batch.documents.empty();
}

// Sets entry and either document_.text or long_text_; false when all files are read.
bool BatchReader::next_document(BatchDocument& entry) {
  for (;; reader_.reset(), ++next_.file, next_.documents = 0) {
    if (next_.file == static_cast<int64_t>(files_.size())) return false;
    const SourceFile& source_file = files_[static_cast<size_t>(next_.file)];
    entry.source = source_file.source;
    const std::string& source = sources_[static_cast<size_t>(entry.source)].name;
    if (is_local_text(source_file.file) && source_file.file.bytes > kStreamBytes) {
      if (next_.documents == 0 && open_text(entry)) return true;
    } else {
      if (!reader_) {
        ReadSettings settings = settings_;
        settings.source = source;
        reader_ = open_documents(source_file.file, settings);
      }
      while (reader_->next(document_)) {
        ++next_.documents;
        entry.name = document_.id;
        if (!name_fits(entry)) continue;
        entry.id = document_id(source, entry.name);
        entry.num_bytes = static_cast<int64_t>(document_.text.size());
        entry.after = next_;
        if (document_.text.size() > kLongDocumentBytes) {
          long_text_ = std::make_shared<const std::string>(std::move(document_.text));
          document_.text.clear();
          long_rest_ = *long_text_;
        }
        return true;
      }
      for (const auto& [reason, count] : reader_->counts().skipped) left_out_[reason] += count;
    }
    bytes_of_files_ += std::max<int64_t>(0, source_file.file.bytes);
  }
}

bool BatchReader::open_text(BatchDocument& entry) {
  const InputFile& input = files_[static_cast<size_t>(next_.file)].file;
  ++next_.documents;
  auto file = posix_storage()->open(input.location);
  if (!is_utf8(*file)) {
    ++left_out_["invalid_utf8"];
    return false;
  }
  entry.name = input.name;
  if (!name_fits(entry)) return false;
  entry.id = document_id(sources_[static_cast<size_t>(entry.source)].name, entry.name);
  entry.num_bytes = file->size();
  entry.after = next_;
  long_file_ = std::move(file);
  long_file_at_ = 0;
  long_rest_ = {};
  read_window();
  if (long_rest_.starts_with(kByteOrderMark)) {
    long_rest_.remove_prefix(kByteOrderMark.size());
    entry.num_bytes -= static_cast<int64_t>(kByteOrderMark.size());
  }
  return true;
}

// More of a long document's text; false when there is none. What is left of the last window is
// copied: batches may still hold that one.
bool BatchReader::read_window() {
  if (!long_file_ || long_file_at_ == long_file_->size()) return false;
  std::string window(long_rest_);
  read_more(*long_file_, long_file_at_, window);
  long_file_at_ += static_cast<int64_t>(window.size() - long_rest_.size());
  long_text_ = std::make_shared<const std::string>(std::move(window));
  long_rest_ = *long_text_;
  return true;
}

bool BatchReader::name_fits(const BatchDocument& entry) {
  if (entry.name.size() <= kMaxNameBytes) return true;
  ++left_out_["id_too_long"];
  return false;
}

void BatchReader::add_short(TextBatch& batch, BatchDocument entry) {
  entry.begin = batch.text.size();
  entry.size = document_.text.size();
  entry.left_out = std::exchange(left_out_, {});
  batch.text += document_.text;
  batch.documents.push_back(std::move(entry));
}

void BatchReader::add_part(TextBatch& batch) {
  size_t cut = 0;
  for (size_t limit = kBatchBytes; cut == 0; limit += kBatchBytes) {
    while (long_rest_.size() <= limit && read_window()) {
    }
    cut = limit < long_rest_.size() ? tokenizer_.safe_cut(long_rest_, limit) : long_rest_.size();
  }
  const bool last = cut == long_rest_.size();
  BatchDocument entry = last ? std::move(long_entry_) : BatchDocument();
  if (last) entry.left_out = std::exchange(left_out_, {});
  entry.begin = 0;
  entry.size = cut;
  entry.first = !std::exchange(long_begun_, !last);
  entry.last = last;
  batch.documents.push_back(std::move(entry));
  batch.long_text = long_text_;
  batch.part = long_rest_.substr(0, cut);
  long_rest_.remove_prefix(cut);
  if (last) {
    long_text_.reset();
    long_file_.reset();
  }
  batch.bytes_read = take_bytes_read();
}

int64_t BatchReader::take_bytes_read() {
  int64_t now = bytes_of_files_ + (reader_ ? reader_->bytes_read() : 0);
  if (long_file_) now += long_file_at_;
  return std::max<int64_t>(0, now - std::exchange(bytes_reported_, now));
}

}  // namespace ingot
