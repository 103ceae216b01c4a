#include "ledger/ledger.h"

#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error/error.h"

namespace ingot {
namespace {

constexpr size_t kChecksumDigits = 8;
constexpr int64_t kChunkBytes = int64_t{1} << 20;

// The low half of XXH3-64: fast, and as good at telling damage as a CRC of the same width.
uint32_t checksum(std::string_view text) {
  return static_cast<uint32_t>(XXH3_64bits(text.data(), text.size()));
}

std::string line_of(const nlohmann::json& record) {
  // Bytes that are not UTF-8 are replaced: a bad file name must not stop a run.
  const std::string text = record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return fmt::format("{:08x} {}\n", checksum(text), text);
}

// The record of a line without its newline; nothing when the line is damaged.
std::optional<nlohmann::json> record_of(std::string_view line) {
  if (line.size() < kChecksumDigits + 2 || line[kChecksumDigits] != ' ') return std::nullopt;
  const std::string_view text = line.substr(kChecksumDigits + 1);
  if (line.substr(0, kChecksumDigits) != fmt::format("{:08x}", checksum(text))) return std::nullopt;
  auto record = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object()) return std::nullopt;
  return record;
}

// The whole lines of a file, read in chunks.
class LineReader {
 public:
  LineReader(Storage& storage, const std::string& path)
      : file_(storage.open(path)), size_(file_->size()) {}

  // The next line without its newline, or nothing at the end; the view lives until the next call.
  // `ended` tells whether the newline was there.
  std::optional<std::string_view> next(bool& ended) {
    size_t newline = buffer_.find('\n', begin_);
    while (newline == std::string::npos && read_ < size_) {
      buffer_.erase(0, std::exchange(begin_, 0));
      const size_t old = buffer_.size();
      const int64_t more = std::min(kChunkBytes, size_ - read_);
      buffer_.resize(old + static_cast<size_t>(more));
      file_->read(read_, std::as_writable_bytes(std::span(buffer_).subspan(old)));
      read_ += more;
      newline = buffer_.find('\n', old);
    }
    if (begin_ == buffer_.size()) return std::nullopt;
    ended = newline != std::string::npos;
    const size_t end = ended ? newline : buffer_.size();
    const size_t start = std::exchange(begin_, ended ? end + 1 : end);
    return std::string_view(buffer_).substr(start, end - start);
  }

 private:
  std::unique_ptr<ReadableFile> file_;
  int64_t size_;
  int64_t read_ = 0;
  std::string buffer_;
  size_t begin_ = 0;  // of the next line in the buffer
};

// Visits the records up to a torn tail and returns the bytes they take. One damaged line at the
// very end is a torn tail: a crash tears the write it interrupts, and a line is one write. Anything
// more is damage that must not be cut off in silence.
int64_t scan(Storage& storage, const std::string& path,
             const std::function<void(nlohmann::json)>& visit) {
  LineReader lines(storage, path);
  int64_t whole_bytes = 0;
  int64_t number = 1;
  bool ended = false;
  for (auto line = lines.next(ended); line; line = lines.next(ended), ++number) {
    auto record = ended ? record_of(*line) : std::nullopt;
    if (!record) {
      check(!lines.next(ended), ErrorCode::Data,
            "ledger '{}' is damaged at line {}, before its end; restore it from a copy, or keep "
            "only the lines before",
            path, number);
      break;
    }
    whole_bytes += static_cast<int64_t>(line->size()) + 1;
    visit(*std::move(record));
  }
  return whole_bytes;
}

}  // namespace

struct LedgerWriter::Impl {
  std::shared_ptr<Storage> storage;
  std::string path;
  std::unique_ptr<WritableFile> file;
  int64_t whole_bytes = 0;

  void cut_to_whole_lines() {
    storage->truncate(path, whole_bytes);
    file = storage->open_append(path);
    file->sync();
  }
};

LedgerWriter::LedgerWriter(std::shared_ptr<Storage> storage, std::string path, const Visit& visit)
    : impl_(new Impl{std::move(storage), std::move(path), nullptr, 0}) {
  if (!impl_->storage->exists(impl_->path)) {
    impl_->file = impl_->storage->create(impl_->path);
    impl_->storage->sync_directory(parent_path(impl_->path));
    return;
  }
  impl_->whole_bytes = scan(*impl_->storage, impl_->path, visit);
  if (impl_->storage->open(impl_->path)->size() == impl_->whole_bytes) {
    impl_->file = impl_->storage->open_append(impl_->path);
  } else {
    impl_->cut_to_whole_lines();
  }
}

LedgerWriter::~LedgerWriter() = default;

void LedgerWriter::append(const nlohmann::json& record) {
  check(record.is_object() && record.contains("kind") && record["kind"].is_string(),
        ErrorCode::Internal, "a ledger record needs a \"kind\" that is a string, got {}",
        record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  // A write that failed half-way left a torn line; it must not end up in the middle of the file.
  if (!impl_->file) impl_->cut_to_whole_lines();
  const std::string line = line_of(record);
  std::unique_ptr<WritableFile> file = std::move(impl_->file);
  file->append(std::as_bytes(std::span(line)));
  impl_->whole_bytes += static_cast<int64_t>(line.size());
  impl_->file = std::move(file);
}

void LedgerWriter::sync() {
  if (!impl_->file) impl_->cut_to_whole_lines();
  impl_->file->sync();
}

int64_t for_each_record(Storage& storage, const std::string& path,
                        const std::function<void(const nlohmann::json&)>& visit) {
  const int64_t whole_bytes = scan(storage, path, visit);
  return storage.open(path)->size() - whole_bytes;
}

}  // namespace ingot
