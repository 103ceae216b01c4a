#include "data/shards/document_batches.h"

#include <algorithm>
#include <utility>

#include "data/serve/utf8.h"
#include "data/shards/shard_writer.h"

namespace ingot {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_local_text(const InputFile& file) {
  const bool is_text = file.name.ends_with(".txt") || file.name.ends_with(".md");
  return is_text && file.location.find("://") == std::string::npos;
}

// Looks at every byte, and holds few of them.
bool is_utf8(const MappedFile& file) {
  constexpr size_t kPart = size_t{16} << 20;
  const std::string_view text = file.bytes();
  for (size_t at = 0; at < text.size();) {
    const std::string_view part = text.substr(at, kPart);
    const size_t valid = valid_utf8_prefix(part);
    // A character may be cut by the end of the part; it is the beginning of the next.
    if (valid + 3 < part.size() || valid == 0) return false;
    if (valid < part.size() && at + part.size() == text.size()) return false;
    file.release(at, at + valid);
    at += valid;
  }
  return true;
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
  while (next_.documents < from.documents && next_.file == from.file) next_document(passed_over);
  long_text_.reset();
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
    if (is_local_text(source_file.file) && source_file.file.bytes > kMapBytes) {
      if (next_.documents == 0 && map_text(entry)) return true;
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
          long_text_ = std::make_shared<LongText>();
          long_text_->held = std::exchange(document_.text, {});
          long_rest_ = long_text_->view = long_text_->held;
        }
        return true;
      }
      for (const auto& [reason, count] : reader_->counts().skipped) left_out_[reason] += count;
    }
    bytes_of_files_ += std::max<int64_t>(0, source_file.file.bytes);
  }
}

bool BatchReader::map_text(BatchDocument& entry) {
  const InputFile& file = files_[static_cast<size_t>(next_.file)].file;
  ++next_.documents;
  auto text = std::make_shared<LongText>();
  text->mapped.emplace(file.location);
  if (!is_utf8(*text->mapped)) {
    ++left_out_["invalid_utf8"];
    return false;
  }
  text->view = text->mapped->bytes();
  if (text->view.starts_with(kByteOrderMark)) text->view.remove_prefix(kByteOrderMark.size());
  entry.name = file.name;
  if (!name_fits(entry)) return false;
  entry.id = document_id(sources_[static_cast<size_t>(entry.source)].name, entry.name);
  entry.num_bytes = static_cast<int64_t>(text->view.size());
  entry.after = next_;
  long_text_ = std::move(text);
  long_rest_ = long_text_->view;
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
    cut = limit < long_rest_.size() ? tokenizer_.safe_cut(long_rest_, limit) : long_rest_.size();
  }
  const bool first = long_rest_.data() == long_text_->view.data();
  const bool last = cut == long_rest_.size();
  BatchDocument entry = last ? std::move(long_entry_) : BatchDocument();
  if (last) entry.left_out = std::exchange(left_out_, {});
  entry.begin = 0;
  entry.size = cut;
  entry.first = first;
  entry.last = last;
  batch.documents.push_back(std::move(entry));
  batch.long_text = long_text_;
  batch.part = long_rest_.substr(0, cut);
  long_rest_.remove_prefix(cut);
  if (last) long_text_.reset();
  batch.bytes_read = take_bytes_read();
}

int64_t BatchReader::take_bytes_read() {
  int64_t now = bytes_of_files_ + (reader_ ? reader_->bytes_read() : 0);
  if (long_text_ && long_text_->mapped) now += long_rest_.data() - long_text_->view.data();
  return std::max<int64_t>(0, now - std::exchange(bytes_reported_, now));
}

}  // namespace ingot
