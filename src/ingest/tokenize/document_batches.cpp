#include "ingest/tokenize/document_batches.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "core/text/utf8.h"
#include "ingest/read/input_content.h"
#include "ingest/tasks/input_records.h"
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

// Reads the file through; sets `content`.
bool is_utf8(Storage& storage, const std::string& path, InputContent& content) {
  const auto stream = hashed(open_byte_stream(storage, path));
  std::string window;
  bool valid = true;
  for (size_t carried = 0; valid; carried = window.size()) {
    window.resize(carried + kWindowBytes);
    const size_t count = stream->read(window.data() + carried, kWindowBytes);
    window.resize(carried + count);
    if (count == 0) break;
    // A character may be cut by the end of the window; it is the beginning of the next.
    const size_t good = valid_utf8_prefix(window);
    valid = window.size() - good <= 3;
    window.erase(0, good);
  }
  content = stream->content();
  return valid && window.empty();
}

}  // namespace

void TextBatch::clear() {
  documents.clear();
  text.clear();
  long_text.reset();
  part = {};
  after = {};
  bytes_read = 0;
}

BatchReader::BatchReader(const std::vector<SourceFile>& files,
                         const std::vector<ShardSource>& sources, const ReadSettings& settings,
                         const Tokenizer& tokenizer, InputPosition from, const std::string& folder)
    : files_(files), sources_(sources), settings_(settings), tokenizer_(tokenizer) {
  next_.file = from.file;
  for (int64_t i = 0; i < from.file; ++i) {
    bytes_of_files_ += std::max<int64_t>(0, files_[static_cast<size_t>(i)].file.bytes);
  }
  BatchDocument passed_over;
  while (next_.documents < from.documents) {
    if (!next_document(passed_over) || next_.file != from.file) {
      throw changed_input(files_[static_cast<size_t>(from.file)].file.location, folder);
    }
  }
  if (from.hash != 0 && next_.hash != from.hash) {
    throw changed_input(files_[static_cast<size_t>(from.file)].file.location, folder);
  }
  long_text_.reset();
  long_file_.reset();
  passed_ = {};  // what came before has been counted
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
  if (batch.documents.empty()) batch.after = std::exchange(passed_, {});
  batch.bytes_read = take_bytes_read();
  return !batch.documents.empty();
}

// Sets entry and either document_.text or long_text_; false when all files are read.
bool BatchReader::next_document(BatchDocument& entry) {
  for (;; reader_.reset(), next_ = {next_.file + 1, 0, 0}) {
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
        entry.name = document_.id;
        entry.place = {source_file.file.name, reader_->record()};
        take(entry, document_.text);
        if (!name_fits(entry)) continue;
        entry.id = document_id(source, entry.name);
        entry.num_bytes = static_cast<int64_t>(document_.text.size());
        if (document_.text.size() > kLongDocumentBytes) {
          long_text_ = std::make_shared<const std::string>(std::move(document_.text));
          document_.text.clear();
          long_rest_ = *long_text_;
        }
        return true;
      }
      ReadCounts counts = reader_->counts();
      counts.documents = counts.bytes = 0;
      passed_.counts += counts;
      text_content_ = reader_->content();
    }
    passed_.files.push_back(std::exchange(text_content_, {}));
    bytes_of_files_ += std::max<int64_t>(0, source_file.file.bytes);
  }
}

bool BatchReader::open_text(BatchDocument& entry) {
  const InputFile& input = files_[static_cast<size_t>(next_.file)].file;
  entry.name = input.name;
  entry.place = {input.name, 0};
  const bool valid = is_utf8(*settings_.storage, input.location, text_content_);
  take(entry, text_content_.hash);
  if (!valid) passed_.counts.skip("invalid_utf8", entry.place);
  if (!valid || !name_fits(entry)) return false;
  entry.id = document_id(sources_[static_cast<size_t>(entry.source)].name, entry.name);
  auto file = settings_.storage->open(input.location);
  entry.num_bytes = file->size();
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

// The document that `entry` names is taken from the file, whether or not it becomes one of a batch.
void BatchReader::take(BatchDocument& entry, std::string_view text) {
  for (const std::string_view part : {std::string_view(entry.name), text}) {
    next_.hash = XXH3_64bits_withSeed(part.data(), part.size(), next_.hash + part.size());
  }
  ++next_.documents;
  entry.after = next_;
}

bool BatchReader::name_fits(const BatchDocument& entry) {
  if (entry.name.size() <= kMaxNameBytes) return true;
  passed_.counts.skip("id_too_long", entry.place);
  return false;
}

void BatchReader::add_short(TextBatch& batch, BatchDocument entry) {
  entry.begin = batch.text.size();
  entry.size = document_.text.size();
  entry.before = std::exchange(passed_, {});
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
  if (last) entry.before = std::exchange(passed_, {});
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
