#include "feed/text_source.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/storage/mapped_file.h"
#include "core/text/format.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

// Documents as ranges of token positions: starts[i] is the first of document i, starts.back() the
// end of the last.
struct DocumentIndex {
  std::vector<int64_t> starts{0};

  void append(int64_t num_tokens) { starts.push_back(starts.back() + num_tokens); }
  int64_t num_tokens() const { return starts.back(); }
  size_t at(int64_t position) const {
    return static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), position) -
                               starts.begin()) -
           1;
  }
};

void check_range(const DocumentIndex& documents, int64_t begin, int64_t end) {
  check(begin >= 0 && begin <= end && end <= documents.num_tokens(), ErrorCode::Internal,
        "text: tokens [{}, {}) of {}", begin, end, documents.num_tokens());
}

void check_utf8(const MappedFile& file, bool stays_resident) {
  constexpr size_t kChunkBytes = size_t{16} << 20;
  const std::string_view text = file.bytes();
  size_t begin = 0;
  while (begin < text.size()) {
    const std::string_view chunk = text.substr(begin, kChunkBytes);
    const size_t valid = valid_utf8_prefix(chunk);
    const bool cut_by_chunk =
        valid > 0 && chunk.size() - valid < 4 && begin + chunk.size() < text.size();
    check(valid == chunk.size() || cut_by_chunk, ErrorCode::Data,
          "{}: not UTF-8 at byte {}; convert it (iconv -t UTF-8), or name it *.bin if it holds "
          "tokens",
          file.path(), begin + valid);
    if (!stays_resident) file.release(begin, begin + valid);
    begin += valid;
  }
}

std::string describe_text(size_t num_files, int64_t bytes, int64_t num_tokens,
                          const std::string& kind) {
  return fmt::format("{} text file{}, {}, {} tokens ({})", num_files, num_files == 1 ? "" : "s",
                     format_bytes(bytes), format_count(num_tokens), kind);
}

// What texts have in common: each file is a document.
class TextSource : public TokenSource {
 public:
  TextSource(const std::vector<MappedFile>& files, const Tokenizer& tokenizer)
      : eos_(tokenizer.eos()) {
    const std::string vocabulary = tokenizer.serialize();
    hash_ = XXH3_64bits(vocabulary.data(), vocabulary.size());
    for (const MappedFile& file : files) {
      names_.push_back(file.path());
      const std::array<uint64_t, 2> facts{file.bytes().size(), file.content_hash()};
      hash_ = XXH3_64bits_withSeed(facts.data(), sizeof(facts), hash_);
    }
  }

  int64_t num_tokens() const override { return documents_.num_tokens(); }
  int64_t num_documents() const override { return static_cast<int64_t>(names_.size()); }
  int64_t document_begin(int64_t document) const override {
    return documents_.starts[static_cast<size_t>(document)];
  }
  int64_t document_at(int64_t position) const override {
    return static_cast<int64_t>(documents_.at(position));
  }
  std::string document_name(int64_t document) const override {
    return names_[static_cast<size_t>(document)];
  }
  std::optional<ContentId> content(int64_t document) const override {
    return content_of(document_begin(document), document_begin(document + 1), -1, eos_,
                      [&](int64_t begin, std::span<int32_t> out) { read(begin, out); });
  }
  int64_t content_cost() const override { return num_tokens(); }
  uint64_t content_hash() const override { return hash_; }

 protected:
  DocumentIndex documents_;
  const int32_t eos_;

 private:
  std::vector<std::string> names_;  // paths
  uint64_t hash_ = 0;
};

// Bytes are their own ids, so the mapped files are the tokens.
class ByteText final : public TextSource {
 public:
  ByteText(std::vector<MappedFile> files, const Tokenizer& tokenizer, bool resident)
      : TextSource(files, tokenizer), files_(std::move(files)), resident_(resident) {
    for (const auto& file : files_) {
      documents_.append(static_cast<int64_t>(file.bytes().size()) + 1);
    }
  }

  int64_t num_bytes(int64_t begin, int64_t end) const override {
    check_range(documents_, begin, end);
    // Before position p lie as many EOS as documents that ended.
    return (end - static_cast<int64_t>(documents_.at(end))) -
           (begin - static_cast<int64_t>(documents_.at(begin)));
  }

  void read(int64_t begin, std::span<int32_t> out) const override {
    check_range(documents_, begin, begin + static_cast<int64_t>(out.size()));
    size_t document = documents_.at(begin);
    auto offset = static_cast<size_t>(begin - documents_.starts[document]);
    for (size_t filled = 0; filled < out.size(); ++document, offset = 0) {
      const std::string_view bytes = files_[document].bytes();
      const size_t count = std::min(out.size() - filled, bytes.size() - offset);
      for (size_t i = 0; i < count; ++i) {
        out[filled + i] = static_cast<unsigned char>(bytes[offset + i]);
      }
      if (!resident_ && count > 0) files_[document].release(offset, offset + count);
      filled += count;
      if (filled < out.size()) out[filled++] = eos_;
    }
  }

  std::string describe() const override {
    const auto num_files = static_cast<int64_t>(files_.size());
    return describe_text(files_.size(), num_tokens() - num_files, num_tokens(), "byte");
  }

 private:
  std::vector<MappedFile> files_;
  bool resident_;
};

class EncodedText final : public TextSource {
 public:
  EncodedText(const std::vector<MappedFile>& files, const Tokenizer& tokenizer)
      : TextSource(files, tokenizer), kind_(tokenizer.kind()) {
    for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
      bytes_of_.push_back(static_cast<int32_t>(tokenizer.decode(id).size()));
    }
    for (const auto& file : files) {
      const std::vector<int32_t> ids = tokenizer.encode(file.bytes());
      ids_.insert(ids_.end(), ids.begin(), ids.end());
      if (tokenizer.eos() >= 0) ids_.push_back(tokenizer.eos());
      documents_.append(static_cast<int64_t>(ids_.size()) - documents_.num_tokens());
      int64_t decoded_bytes = 0;
      for (int32_t id : ids) decoded_bytes += bytes_of_[id];
      added_bytes_.push_back(decoded_bytes - static_cast<int64_t>(file.bytes().size()));
      text_bytes_ += static_cast<int64_t>(file.bytes().size());
    }
  }

  int64_t num_bytes(int64_t begin, int64_t end) const override {
    check_range(documents_, begin, end);
    int64_t bytes = 0;
    for (int64_t i = begin; i < end; ++i) bytes += bytes_of_[ids_[i]];
    for (size_t i = 0; i < added_bytes_.size(); ++i) {
      if (documents_.starts[i] >= begin && documents_.starts[i] < end) bytes -= added_bytes_[i];
    }
    return bytes;
  }

  void read(int64_t begin, std::span<int32_t> out) const override {
    check_range(documents_, begin, begin + static_cast<int64_t>(out.size()));
    std::copy_n(ids_.begin() + begin, out.size(), out.begin());
  }

  std::string describe() const override {
    return describe_text(added_bytes_.size(), text_bytes_, num_tokens(), kind_);
  }

 private:
  std::vector<int32_t> ids_;
  std::vector<int32_t> bytes_of_;     // decoded size of each id
  std::vector<int64_t> added_bytes_;  // a document's bytes that its text does not have: the space
                                      // some formats put first
  int64_t text_bytes_ = 0;
  std::string kind_;
};

// A text that lies twice in a folder is trained on twice.
void count_equal_files(const std::vector<MappedFile>& files, const std::string& path) {
  std::map<size_t, std::vector<const MappedFile*>> by_size;
  for (const MappedFile& file : files) by_size[file.bytes().size()].push_back(&file);
  int64_t count = 0;
  std::string first;
  for (const auto& [size, candidates] : by_size) {
    std::map<uint64_t, const MappedFile*> by_content;
    for (const MappedFile* file : candidates) {
      if (candidates.size() == 1) break;
      const auto [same, is_new] = by_content.emplace(file->content_hash(), file);
      if (is_new) continue;
      if (count++ == 0) first = fmt::format("{} = {}", file->path(), same->second->path());
    }
  }
  if (count > 0)
    log::warn("equal_files", {{"folder", path}, {"files", format_count(count)}, {"first", first}});
}

}  // namespace

std::unique_ptr<TokenSource> open_text(const std::string& path, const Tokenizer& tokenizer,
                                       const TextChoice& choice) {
  const bool is_bytes = tokenizer.kind() == "byte";
  std::vector<MappedFile> files;
  int64_t total_bytes = 0;
  for (const auto& name : text_files(path, choice, is_bytes ? "byte" : "TOKENIZER")) {
    files.emplace_back(name);
    total_bytes += static_cast<int64_t>(files.back().bytes().size());
  }
  count_equal_files(files, path);
  const bool resident = total_bytes <= kResidentBytes;
  for (const auto& file : files) check_utf8(file, resident);
  if (is_bytes) return std::make_unique<ByteText>(std::move(files), tokenizer, resident);
  check(total_bytes <= kMaxEncodedTextBytes, ErrorCode::Data,
        "{}: {} of text; the {} tokenizer takes at most {}, because its ids are kept in memory: "
        "make shards of it first (ingot data tokenize)",
        path, format_bytes(total_bytes), tokenizer.kind(), format_bytes(kMaxEncodedTextBytes));
  return std::make_unique<EncodedText>(files, tokenizer);
}

}  // namespace ingot
